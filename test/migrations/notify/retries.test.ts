import { describe, expect, it } from 'vitest';
import { decideAttempt, MAX_ATTEMPTS } from '../../../src/migrations/notify/retries.ts';

const AT = Date.parse('2024-03-01T12:00:00Z');
const DAY_MS = 24 * 3_600_000;
const failed = { at: new Date(AT).toISOString(), outcome: 'failed', reason: 'HTTP 500' } as const;
const times = { atMs: AT, sinceMs: AT };

describe('a notice', () => {
  it('is sent when it is found, unless it was before the webhook was used, or is no news', () => {
    const none = { count: 0, last: undefined };
    expect(decideAttempt(times, none, AT)).toEqual({ kind: 'send' });
    expect(decideAttempt({ atMs: AT, sinceMs: AT + 1 }, none, AT)).toEqual({ kind: 'none' });
    expect(decideAttempt({ atMs: Number.NaN, sinceMs: 0 }, none, AT)).toEqual({ kind: 'none' });
    expect(decideAttempt(times, none, AT + 3 * DAY_MS)).toEqual({ kind: 'send' });
    expect(decideAttempt(times, none, AT + 3 * DAY_MS + 1)).toEqual({ kind: 'expire' });
  });

  it('that failed is sent again after a wait that grows', () => {
    const decideAfter = (count: number, ms: number) =>
      decideAttempt(times, { count, last: failed }, AT + ms).kind;
    expect([decideAfter(1, 4_999), decideAfter(1, 5_000)]).toEqual(['wait', 'send']);
    expect([decideAfter(2, 29_999), decideAfter(2, 30_000)]).toEqual(['wait', 'send']);
    expect([decideAfter(7, 6 * 3_600_000 - 1), decideAfter(7, 6 * 3_600_000)]).toEqual(['wait', 'send']);
    // It is sent again however long nobody was there.
    expect(decideAfter(1, 30 * DAY_MS)).toBe('send');
  });

  it('is over once it is delivered, expired, or was tried often enough', () => {
    for (const outcome of ['delivered', 'expired'] as const)
      expect(decideAttempt(times, { count: 1, last: { ...failed, outcome } }, AT + DAY_MS).kind).toBe('none');
    expect(decideAttempt(times, { count: MAX_ATTEMPTS, last: failed }, AT + DAY_MS).kind).toBe('none');
    expect(decideAttempt(times, { count: MAX_ATTEMPTS - 1, last: failed }, AT + DAY_MS).kind).toBe('send');
  });
});
