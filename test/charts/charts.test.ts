import { html } from 'hono/html';
import { describe, expect, it } from 'vitest';
import { stack } from '../../src/charts/columns.ts';
import {
  formatDay,
  formatDuration,
  formatNumber,
  formatShare,
  formatShort,
} from '../../src/charts/format.ts';
import { spreadOut } from '../../src/charts/lines.ts';
import { createScale, locate } from '../../src/charts/scale.ts';
import { shorten } from '../../src/lib/preview.ts';

describe('an axis', () => {
  it.each([
    [[], [1, 0]],
    [[0], [1, 0]],
    [[1], [1, 0]],
    [[3], [3, 2, 1, 0]],
    [[4], [4, 2, 0]],
    [[7], [10, 5, 0]],
    [
      [10, 25],
      [30, 20, 10, 0],
    ],
    [[1234], [1500, 1000, 500, 0]],
    [[0.25], [0.3, 0.2, 0.1, 0]],
    [
      [-5, 10],
      [10, 5, 0, -5],
    ],
    [[-7], [0, -5, -10]],
  ])('for %j has lines at %j', (values, ticks) => {
    const scale = createScale(values);
    expect(scale.ticks).toEqual(ticks);
    expect([scale.high, scale.low]).toEqual([ticks[0], ticks.at(-1)]);
  });

  it('puts the highest at the top and the lowest at the bottom', () => {
    const scale = createScale([-5, 10]);
    expect([10, 0, -5].map((value) => locate(scale, value, 180))).toEqual([0, 120, 180]);
  });
});

describe('columns', () => {
  it('stand on one another, and hang below zero', () => {
    expect(stack([1, 2, -3, 4, -1])).toEqual([
      { from: 0, to: 1 },
      { from: 1, to: 3 },
      { from: 0, to: -3 },
      { from: 3, to: 7 },
      { from: -3, to: -4 },
    ]);
  });
});

describe('names beside lines', () => {
  it('stay where they are, unless they would overlap or leave the chart', () => {
    expect(spreadOut([10, 100])).toEqual([10, 100]);
    expect(spreadOut([10, 12, 100])).toEqual([10, 25, 100]);
    expect(spreadOut([170, 175, 180])).toEqual([150, 165, 180]);
    expect(spreadOut([])).toEqual([]);
  });
});

describe('numbers and times', () => {
  it.each([
    [formatNumber(1_234_567.891), '1,234,567.89'],
    [formatShort(9999), '9,999'],
    [formatShort(12_345), '12.3K'],
    [formatShare(1, 3), '33.3%'],
    [formatShare(1, 0), '0%'],
    [formatDay('2024-01-31'), '31 Jan 2024'],
    [formatDay('2024-01-31 08:00:00'), '31 Jan 2024, 08:00'],
    [formatDuration(0), '0 s'],
    [formatDuration(0.44), '0.4 s'],
    [formatDuration(59), '59 s'],
    [formatDuration(60), '1 min'],
    [formatDuration(61), '1 min 1 s'],
    [formatDuration(119.9), '2 min'],
    [formatDuration(3600), '1 h'],
    [formatDuration(86_399), '24 h'],
    [formatDuration(90_000), '1 d 1 h'],
    [formatDuration(86_400 * 400), '400 d'],
    [shorten('abcdef', 6), 'abcdef'],
    [shorten('abcdefg', 6), 'abcde…'],
    [shorten('👍👍👍', 2), '👍…'],
  ])('%s', (shown, expected) => expect(shown).toBe(expected));
});

describe('a piece of HTML', () => {
  it('escapes every value, and takes in other pieces and lists of them', () => {
    const item = (text: string) => html`<li title="${text}">${text}</li>`;
    expect(html`<ul>${[item('<a>'), item(`"'&`)]}</ul>${undefined}${1.5}`.toString()).toBe(
      '<ul><li title="&lt;a&gt;">&lt;a&gt;</li><li title="&quot;&#39;&amp;">&quot;&#39;&amp;</li></ul>1.5',
    );
  });
});
