import { describe, expect, test } from 'vitest';
import { InsightError } from '../../../../src/server/insights/insight-error.ts';
import { applyFormulas } from '../../../../src/server/insights/trends/apply-formulas.ts';
import { evaluateFormula, parseFormula } from '../../../../src/server/insights/trends/formula.ts';
import type { TrendSeries } from '../../../../src/server/insights/trends/model.ts';

describe('a formula', () => {
  test.each([
    ['A', 6],
    ['a + B', 9],
    ['A - B - C', 1],
    ['A - (B - C)', 5],
    ['A / B * 100', 200],
    ['2 + A * B', 20],
    ['-A + 10', 4],
    ['--A', 6],
    ['B ** 2', 9],
    ['B ^ C', 9],
    ['-B ** 2', -9],
    ['2 ** B ** C', 512],
    ['2 ** -1', 0.5],
    [' ( A+ 0.5 )/ 0.5 ', 13],
    ['A / 0', 0],
    ['(A - A) / (B - B)', 0],
    ['(0 - 1) ** 0.5', 0],
  ])('%s of 6, 3 and 2 is %d', (text, value) => {
    expect(evaluateFormula(parseFormula(text, 3), [6, 3, 2])).toBe(value);
  });

  test.each([
    ['', 'ends too early'],
    ['A +', 'ends too early'],
    ['(A', 'not closed'],
    ['A B', '"B" was not expected'],
    ['A)', '")" was not expected'],
    ['D', '"D" is no series; there are A, B, C'],
    ['sum(A)', '"sum" is no series'],
    ['A % B', '"% B" cannot be read'],
    ['1e3', '"e" was not expected'],
    ['é', 'cannot be read'],
    ['('.repeat(40), 'nested too deeply'],
    ['-'.repeat(40), 'nested too deeply'],
    ['1+'.repeat(250), 'more than 400 characters'],
  ])('%s is refused', (text, why) => {
    expect(() => parseFormula(text, 3)).toThrow(InsightError);
    expect(() => parseFormula(text, 3)).toThrow(why);
  });
});

describe('lines of formulas', () => {
  const line = (data: number[], breakdown?: string): TrendSeries => ({
    action: { order: 0 },
    label: 'x',
    count: 0,
    data,
    labels: data.map(String),
    days: data.map(String),
    ...(breakdown === undefined ? {} : { breakdown_value: breakdown }),
  });
  const ratio = { formula: parseFormula('A / B', 2), name: 'Formula (A / B)' };
  const double = { formula: parseFormula('A * 2', 2), name: 'Twice' };

  test('have a value an interval, and their sum', () => {
    expect(applyFormulas([ratio], [[line([2, 9])], [line([4, 0])]])).toEqual([
      {
        action: null,
        label: 'Formula (A / B)',
        count: 0.5,
        data: [0.5, 0],
        labels: ['2', '9'],
        days: ['2', '9'],
      },
    ]);
  });

  test('are one for each value that any series has, and for each formula', () => {
    const bySeries = [
      [line([2], 'Chrome'), line([8], '')],
      [line([4], 'Chrome'), line([1], 'Safari')],
    ];
    const shown = applyFormulas([ratio, double], bySeries);
    expect(shown.map(({ label, data, breakdown_value: value }) => [label, value, data])).toEqual([
      ['Formula (A / B) - Chrome', 'Chrome', [0.5]],
      ['Formula (A / B) - none', '', [0]],
      ['Formula (A / B) - Safari', 'Safari', [0]],
      ['Twice - Chrome', 'Chrome', [4]],
      ['Twice - none', '', [16]],
      ['Twice - Safari', 'Safari', [0]],
    ]);
  });

  test('of one number a series are one number', () => {
    const total = (value: number): TrendSeries => ({ ...line([]), count: value, aggregated_value: value });
    const [shown] = applyFormulas([ratio], [[total(3)], [total(4)]]);
    expect(shown).toMatchObject({ count: 0.75, aggregated_value: 0.75, data: [] });
  });
});
