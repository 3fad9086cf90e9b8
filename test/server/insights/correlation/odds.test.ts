import { describe, expect, test } from 'vitest';
import { toCorrelations } from '../../../../src/server/insights/correlation/compute.ts';
import { computeOdds, isRare, isSkewed } from '../../../../src/server/insights/correlation/odds.ts';

describe('odds of converting', () => {
  test.each([
    // (4+1)(8+1) / ((2+1)(6+1)), times and through e to the power of 1.96 √(1/5 + 1/3 + 1/7 + 1/9)
    [[4, 2, 10, 10], 45 / 21, [0.37645, 12.19771], false, 'success'],
    [[90, 10, 100, 100], (91 * 91) / (11 * 11), [28.25047, 165.79413], true, 'success'],
    [[10, 90, 100, 100], (11 * 11) / (91 * 91), [0.00603, 0.0354], true, 'failure'],
    // Nobody who converted has it: the ratio stays finite.
    [[0, 5, 5, 5], 1 / 36, [0.00139, 0.55457], true, 'failure'],
    [[5, 5, 5, 5], 1, [0.05009, 19.96438], false, 'failure'],
  ])(
    'of %j',
    ([success = 0, failure = 0, successTotal = 0, failureTotal = 0], ratio, [low = 0, high = 0], ...rest) => {
      const odds = computeOdds({ success, failure, successTotal, failureTotal });
      expect(odds.ratio).toBeCloseTo(ratio, 5);
      expect(odds.interval[0]).toBeCloseTo(low, 4);
      expect(odds.interval[1]).toBeCloseTo(high, 4);
      expect([odds.isSignificant, odds.direction]).toEqual(rest);
    },
  );

  test('mean nothing for what few have, or where one group is ten times the other', () => {
    const of = (success: number, all: number) =>
      isRare({ success, failure: 0, successTotal: all, failureTotal: 0 });
    expect([of(24, 10_000), of(25, 10_000), of(1, 100), of(2, 100)]).toEqual([true, false, true, false]);
    expect([isSkewed(10, 100), isSkewed(9, 100), isSkewed(101, 10)]).toEqual([false, true, true]);
  });

  test('are shown strongest first, ten of each direction', () => {
    const rows = Array.from({ length: 12 }, (_, index) => [
      { label: [`for ${index}`], success: 40 + index, failure: 20 },
      { label: ['against', String(index)], success: 20, failure: 40 + index },
    ]).flat();
    const { found } = toCorrelations([{ label: null, success: 100, failure: 100 }, ...rows]);
    expect(found).toHaveLength(20);
    expect(found[0]?.name).toBe('for 11');
    expect(found[10]?.name).toBe('against::11');
    expect(toCorrelations([])).toEqual({ found: [], successTotal: 0, failureTotal: 0, isSkewed: false });
  });
});
