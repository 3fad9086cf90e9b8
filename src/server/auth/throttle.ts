import { ThrottledError } from '../http/errors.ts';

/**
 * A limit of requests a minute for each personal key. No 60 seconds hold more than the limit: requests are
 * counted by the second they came in, and a second counts until 60 more have passed whole. Refused
 * requests are not counted, so that a client that retries too early does not lock itself out. Each process
 * counts separately.
 */
const WINDOW_SECONDS = 60;
/** Keys that are counted at once; beyond it the least recently used one is forgotten. */
const MAX_KEYS = 10_000;

/** Requests of one key by second, oldest first: 61 entries at most. */
export type Recent = readonly { readonly second: number; readonly count: number }[];

export type Decision =
  | { readonly kind: 'admitted'; readonly recent: Recent }
  | { readonly kind: 'throttled'; readonly recent: Recent; readonly retryAfterSeconds: number };

/** Whether a request is admitted now, and the recent requests of the key after it. */
export function decideAdmission(before: Recent, nowMs: number, perMinute: number): Decision {
  const now = Math.floor(nowMs / 1000);
  const recent = before.filter(({ second }) => second >= now - WINDOW_SECONDS);
  const used = recent.reduce((sum, { count }) => sum + count, 0);
  const oldest = recent[0];
  if (used >= perMinute && oldest !== undefined) {
    const freeAtMs = (oldest.second + WINDOW_SECONDS + 1) * 1000;
    return { kind: 'throttled', recent, retryAfterSeconds: Math.ceil((freeAtMs - nowMs) / 1000) };
  }
  const last = recent.at(-1);
  const counted =
    last?.second === now
      ? [...recent.slice(0, -1), { second: now, count: last.count + 1 }]
      : [...recent, { second: now, count: 1 }];
  return { kind: 'admitted', recent: counted };
}

export interface Throttle {
  /** Counts a request of a key. Throws ThrottledError. */
  admit(keyId: number): void;
}

/** `nowMs`: a clock that never goes back. */
export function createThrottle(perMinute: number, nowMs: () => number, maxKeys = MAX_KEYS): Throttle {
  /** In the order of their last request: a Map keeps the order of insertion. */
  const keys = new Map<number, Recent>();
  return {
    admit(keyId) {
      const decision = decideAdmission(keys.get(keyId) ?? [], nowMs(), perMinute);
      keys.delete(keyId);
      keys.set(keyId, decision.recent);
      const [longestAgo] = keys.keys();
      if (keys.size > maxKeys && longestAgo !== undefined) keys.delete(longestAgo);
      if (decision.kind === 'throttled') throw new ThrottledError(decision.retryAfterSeconds);
    },
  };
}
