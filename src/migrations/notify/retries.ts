import type { Attempt } from '../../state/notices/notices.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after failed attempts: some nine hours in all. */
const WAITS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
];
export const MAX_ATTEMPTS = WAITS_MS.length + 1;

/** What is older when it is first found is not told: nobody was there to tell it, and it is no news. */
const NEWS_MS = 3 * 24 * HOUR_MS;

export type NextAttempt =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'expire' }
  | { readonly kind: 'send' };

/** Whether something that happened at `atMs` is told now. */
export function decideAttempt(
  { atMs, sinceMs }: { readonly atMs: number; readonly sinceMs: number },
  made: { readonly count: number; readonly last: Attempt | undefined },
  nowMs: number,
): NextAttempt {
  if (!(atMs >= sinceMs)) return { kind: 'none' };
  const { count, last } = made;
  if (last === undefined) return { kind: nowMs - atMs > NEWS_MS ? 'expire' : 'send' };
  if (last.outcome !== 'failed' || count >= MAX_ATTEMPTS) return { kind: 'none' };
  return { kind: nowMs >= toNextAttemptMs(count, last) ? 'send' : 'wait' };
}

/** When the next attempt is due after so many that failed. */
export const toNextAttemptMs = (count: number, last: Pick<Attempt, 'at'>): number =>
  Date.parse(last.at) + (WAITS_MS[count - 1] ?? 0);
