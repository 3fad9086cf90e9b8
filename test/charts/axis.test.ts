import { describe, expect, it, test } from 'vitest';
import { createTimeAxis, createWordAxis } from '../../src/charts/axis.ts';
import { cutEmptyEnds } from '../../src/charts/empty-ends.ts';

const DAY_MS = 86_400_000;

/** So many days from one on, `step` days apart. */
const listDays = (first: string, count: number, step = 1): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(`${first}T00:00:00Z`) + index * step * DAY_MS).toISOString().slice(0, 10),
  );

const listHours = (first: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(`${first}T00:00:00Z`) + index * 3_600_000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' '),
  );

const listMonths = (year: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => new Date(Date.UTC(year, index)).toISOString().slice(0, 10));

describe('ticks of a time axis', () => {
  it.each([
    ['nothing', [], []],
    ['one day', ['2024-02-29'], ['0 29 Feb/2024']],
    ['a few days', listDays('2023-12-30', 4), ['0 30 Dec/2023', '1 31 Dec', '2 1 Jan/2024', '3 2 Jan']],
    [
      'two weeks: every second day',
      listDays('2024-03-01', 12),
      ['1 2 Mar/2024', '3 4 Mar', '5 6 Mar', '7 8 Mar', '9 10 Mar', '11 12 Mar'],
    ],
    ['a month: Mondays', listDays('2024-04-03', 30), ['5 8 Apr/2024', '12 15 Apr', '19 22 Apr', '26 29 Apr']],
    [
      'half a year of weeks: months',
      listDays('2023-10-01', 26, 7),
      ['0 Oct/2023', '5 Nov', '9 Dec', '14 Jan/2024', '18 Feb', '22 Mar'],
    ],
    ['three years of months: years', listMonths(2020, 40), ['0 2020', '12 2021', '24 2022', '36 2023']],
    [
      'a day of hours',
      listHours('2024-05-01', 24),
      ['0 00:00/1 May 2024', '6 06:00', '12 12:00', '18 18:00'],
    ],
    [
      'two days of hours',
      listHours('2024-05-01', 48),
      ['0 00:00/1 May 2024', '12 12:00', '24 00:00/2 May 2024', '36 12:00'],
    ],
  ])('%s', (_, days, expected) => {
    const shown = createTimeAxis(days).ticks.map(
      ({ index, label, below }) => `${index} ${label}${below === undefined ? '' : `/${below}`}`,
    );
    expect(shown).toEqual(expected);
  });

  test.each([9, 50, 365, 3650, 10_000])('are few and in order for %i days', (count) => {
    const { ticks } = createTimeAxis(listDays('1999-12-31', count));
    expect(ticks.length).toBeGreaterThan(1);
    expect(ticks.length).toBeLessThan(8);
    expect(ticks.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(
      ticks.map(({ index }) => index),
    );
  });
});

test('an axis of words has as many ticks as fit', () => {
  const labels = Array.from({ length: 15 }, (_, index) => `${index + 1} days`);
  expect(createWordAxis(labels).ticks.map(({ index }) => index)).toEqual([0, 3, 6, 9, 12]);
  expect(createWordAxis(labels.slice(0, 7)).ticks).toHaveLength(7);
});

describe('the empty ends of a plot', () => {
  const days = listDays('2024-01-01', 10);
  const cut = (...values: number[][]) =>
    cutEmptyEnds(
      values.map((list, index) => ({ name: String(index), values: list, color: '' })),
      days,
    );

  it('stay where half of the plot has values, and where nothing has', () => {
    expect(cut([0, 0, 0, 1, 0, 0, 0, 1, 0, 0]).note).toBeUndefined();
    expect(cut([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).days).toHaveLength(10);
    expect(cut([1, 0, 0, 0, 0, 0, 0, 0, 0, 1]).days).toHaveLength(10);
  });

  it('go but for one value on each side, over all series together', () => {
    const shown = cut([0, 0, 0, 5, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, -2, 0, 0, 0, 0]);
    expect(shown.days).toEqual(days.slice(2, 7));
    expect(shown.series.map(({ values }) => values)).toEqual([
      [0, 5, 0, 0, 0],
      [0, 0, 0, -2, 0],
    ]);
    expect(shown.note).toBe('Nothing before 4 Jan 2024 or after 6 Jan 2024.');
  });

  it('are named only where something was cut', () => {
    expect(cut([1, 1, 0, 0, 0, 0, 0, 0, 0, 0]).note).toBe('Nothing after 2 Jan 2024.');
    expect(cut([0, 0, 0, 0, 0, 0, 0, 0, 0, 7]).note).toBe('Nothing before 10 Jan 2024.');
  });
});
