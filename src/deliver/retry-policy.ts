export interface RetryPolicy {
  /** Attempts at one request before the job goes back to the queue. */
  readonly attempts: number;
  /** Upper bound of the first pause; doubles with each attempt. */
  readonly baseMs: number;
  /** Upper bound of any pause. */
  readonly maxMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = { attempts: 8, baseMs: 500, maxMs: 30_000 };

/** The longest pause after this failed attempt, counted from 1. */
export const getBackoffCeilingMs = (attempt: number, policy: RetryPolicy) =>
  Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));

/** Full jitter, from 0 to the ceiling: workers that failed together do not retry together. */
export const chooseBackoffMs = (attempt: number, policy: RetryPolicy, random: () => number) =>
  random() * getBackoffCeilingMs(attempt, policy);
