import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { toBudgetKey } from './keys.ts';

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
