import { expect, it } from 'vitest';
import {
  chooseBackoffMs,
  DEFAULT_RETRY_POLICY,
  getBackoffCeilingMs,
} from '../../src/deliver/retry-policy.ts';

it('doubles the longest pause with each attempt, up to its limit', () => {
  const policy = { attempts: 8, baseMs: 500, maxMs: 30_000 };
  const ceilings = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => getBackoffCeilingMs(attempt, policy));
  expect(ceilings).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

it('spreads pauses from nothing to the longest one', () => {
  expect(chooseBackoffMs(3, DEFAULT_RETRY_POLICY, () => 0)).toBe(0);
  expect(chooseBackoffMs(3, DEFAULT_RETRY_POLICY, () => 0.25)).toBe(500);
});
