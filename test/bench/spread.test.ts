import { describe, expect, it } from 'vitest';
import { interleave } from '../../bench/rounds.ts';
import { computeRatio, computeSpread } from '../../bench/spread.ts';

describe('the spread of several rounds', () => {
  it('has the middle one as median, or the mean of the two in the middle', () => {
    expect(computeSpread([9, 1, 2])).toEqual({ median: 2, low: 1, high: 9 });
    expect(computeSpread([4, 1, 2, 9])).toEqual({ median: 3, low: 1, high: 9 });
    expect(() => computeSpread([])).toThrow(RangeError);
  });

  it('compares within a round, so that a slow round shows in no ratio', () => {
    expect(computeRatio([10, 100, 10], [5, 50, 5])).toEqual({ median: 2, low: 2, high: 2 });
  });
});

describe('rounds', () => {
  it('let contestants take turns', async () => {
    const order: string[] = [];
    const results = await interleave(['a', 'b'], { rounds: 2, budgetMs: 60_000 }, async (name) => {
      order.push(name);
      return order.length;
    });
    expect(order).toEqual(['a', 'b', 'a', 'b']);
    expect(results).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  it('run at least once, however small the budget', async () => {
    const results = await interleave(['a'], { rounds: 5, budgetMs: 0 }, async () => 1);
    expect(results).toEqual([[1]]);
  });
});
