import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Staging } from '../contract/staging.ts';
import { openCount } from '../deliver/budget/redis-budget.ts';
import { getMessage, UnavailableError } from '../lib/errors.ts';
import { createBudgetMark, loadBudgetMark } from '../state/destination-marks.ts';

/** What a mark of version 0.1.0 stands for: no count in Redis has this id, so the first one that is used is lost. */
const UNKNOWN_COUNT = '';

/**
 * The id of the count that covers all that was sent to a destination from this staging. Whoever sends first begins
 * the count, and only then marks in staging that it may have sent: with a mark, a missing count is a lost one (I6),
 * and processes that start at once agree on one count. One that is so late that the count was lost meanwhile has
 * begun another, finds the first one's mark, and asks for the count that is gone.
 */
export async function agreeOnCount(
  { staging, redis, now }: { readonly staging: Staging; readonly redis: Redis; readonly now: () => Date },
  budgetKey: string,
): Promise<string> {
  const name = createHash('sha256').update(budgetKey).digest('hex').slice(0, 16);
  const marked = await loadBudgetMark(staging, name);
  if (marked) return marked.count ?? UNKNOWN_COUNT;
  const count = await openCount(redis, budgetKey).catch((error: unknown) => {
    // Whether Redis replies READONLY, OOM or LOADING: it may work again later.
    throw new UnavailableError(
      `Redis did not begin the count of sent events: ${getMessage(error)}`,
      'backoff',
      error,
    );
  });
  if (await createBudgetMark(staging, name, { usedSince: now().toISOString(), count })) return count;
  return (await loadBudgetMark(staging, name))?.count ?? UNKNOWN_COUNT;
}
