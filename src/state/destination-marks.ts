import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout } from './keys/migration.ts';
import { toBudgetKey } from './keys/shared.ts';
import { identify, type MigrationRecord, type Named } from './migrations.ts';

/* Marks that a destination may have received events: of a budget, and of one migration. Each is created once. */

/** Says that events may have been sent under a budget, and which count in Redis covers them. */
const budgetMark = z.strictObject({
  usedSince: z.string(),
  /** Version 0.1.0 wrote none. */
  count: z.string().exactOptional(),
});
export type BudgetMark = z.infer<typeof budgetMark>;

export const loadBudgetMark = (staging: Staging, name: string): Promise<BudgetMark | undefined> =>
  loadDocument(budgetMark, toBudgetKey(name), staging);

/** False when there is one; that one is not changed. */
export const createBudgetMark = (staging: Staging, name: string, mark: BudgetMark): Promise<boolean> =>
  staging.create(toBudgetKey(name), encodeDocument(mark));

/** Says that the destination accepted an event of a migration. */
const acceptanceMark = z.strictObject({
  /** The ledger of destination and project; where no project is named, a fingerprint of the key. */
  ledger: z.string(),
});
type AcceptanceMark = z.infer<typeof acceptanceMark>;

export async function loadAcceptanceMark(staging: Staging, of: Named): Promise<AcceptanceMark | undefined> {
  const { name, id } = await identify(staging, of);
  const { accepted } = layout(name);
  return (
    (await loadDocument(acceptanceMark, accepted(id), staging)) ??
    (await loadDocument(acceptanceMark, accepted(), staging))
  );
}

/** The first one stays. A process of a removed migration may write it late, so that of another one of the name has another key. */
export async function createAcceptanceMark(
  staging: Staging,
  { name, id }: Pick<MigrationRecord, 'name' | 'id'>,
  mark: AcceptanceMark,
): Promise<void> {
  await staging.create(layout(name).accepted(id), encodeDocument(mark));
}
