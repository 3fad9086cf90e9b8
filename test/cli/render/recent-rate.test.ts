import { expect, it } from 'vitest';
import { createRecentRate } from '../../../src/cli/render/recent-rate.ts';

it('is that of the last half minute', () => {
  const rate = createRecentRate();
  expect(rate(500, 0)).toBe(0);
  expect(rate(1_500, 10_000)).toBe(100);
  expect(rate(1_500, 60_000)).toBe(0); // a wait
  expect(rate(4_500, 70_000)).toBe(300);
});
