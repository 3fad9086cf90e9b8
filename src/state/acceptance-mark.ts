import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout } from './keys.ts';

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
