import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout, toBudgetKey } from './keys.ts';

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

export const loadAcceptanceMark = (staging: Staging, name: string): Promise<AcceptanceMark | undefined> =>
  loadDocument(acceptanceMark, layout(name).accepted, staging);

/** The first one stays. */
export async function createAcceptanceMark(
  staging: Staging,
  name: string,
  mark: AcceptanceMark,
): Promise<void> {
  await staging.create(layout(name).accepted, encodeDocument(mark));
}
