export interface RetryPolicy {
  /** Attempts at one request before it is left to the queue. */
  readonly attempts: number;
  /** Ceiling of the first pause; doubles with each attempt. */
  readonly baseMs: number;
  /** Ceiling of any pause. */
  readonly maxMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = { attempts: 8, baseMs: 500, maxMs: 30_000 };

/** The longest pause after this failed attempt, counted from 1. */
export const backoffCeilingMs = (attempt: number, policy: RetryPolicy) =>
  Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1));

/** Full jitter: anything up to the ceiling, so that workers which failed together do not return together. */
export const backoffMs = (attempt: number, policy: RetryPolicy, random: () => number) =>
  random() * backoffCeilingMs(attempt, policy);
