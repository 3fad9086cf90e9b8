import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smoothLine } from '../../../../src/server/insights/trends/smooth-line.ts';

describe('a smoothed line', () => {
  it.each([
    [1, [4, 0.5, 7]],
    [2, [4, 2, 3]],
    [3, [4, 2, 3]],
    [1000, [4, 2, 3]],
  ])('over %i intervals has the mean of those up to each, rounded down', (intervals, expected) => {
    expect(smoothLine([4, 0.5, 7], intervals)).toEqual(expected);
  });

  it('rounds down below zero as well', () => {
    expect(smoothLine([-1, 0, -2], 2)).toEqual([-1, -1, -1]);
  });

  it('of nothing is nothing', () => {
    expect(smoothLine([], 7)).toEqual([]);
  });

  it('leaves out what is further back, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000)), fc.integer({ min: 2, max: 40 }), (line, intervals) => {
        const expected = line.map((_, at) => {
          const near = line.filter((_value, index) => index <= at && index > at - intervals);
          return Math.floor(near.reduce((sum, value) => sum + value, 0) / near.length);
        });
        expect(smoothLine(line, intervals)).toEqual(expected);
      }),
    );
  });
});
