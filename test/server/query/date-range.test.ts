import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/server/http/errors.ts';
import {
  type AskedRange,
  fitRange,
  parseDateRange,
  type RangeContext,
} from '../../../src/server/query/date-range.ts';
import {
  chooseInterval,
  listIntervalStarts,
  MAX_INTERVALS,
  parseInterval,
} from '../../../src/server/query/interval.ts';

/** A Sunday. */
const NOW = Date.parse('2024-03-10T12:34:56.789Z');

function range(
  asked: Partial<AskedRange>,
  context: Partial<RangeContext> = {},
): [from: string, until: string] {
  const { from, until } = parseDateRange({ interval: 'day', ...asked }, { now: NOW, ...context });
  const shown = (iso: string | null) => (iso ?? '').replace('.000', '').replace(/T00:00:00(?=Z|$)/, '');
  return [shown(from.toISO()), shown(until.toISO())];
}

describe('a range of dates', () => {
  test.each<[dateFrom: string | undefined, dateTo: string | undefined, from: string, until: string]>([
    [undefined, undefined, '2024-03-03Z', '2024-03-11Z'],
    ['', '', '2024-03-03Z', '2024-03-11Z'],
    ['-7d', undefined, '2024-03-03Z', '2024-03-11Z'],
    ['7d', undefined, '2024-03-03Z', '2024-03-11Z'],
    ['-2w', '-1w', '2024-02-25Z', '2024-03-04Z'],
    ['-1m', '-1d', '2024-02-10Z', '2024-03-10Z'],
    ['-1q', undefined, '2023-12-10Z', '2024-03-11Z'], // 13 weeks
    ['-1y', undefined, '2023-03-10Z', '2024-03-11Z'],
    ['dStart', 'dEnd', '2024-03-10Z', '2024-03-11Z'],
    ['-1dStart', '-1dEnd', '2024-03-09Z', '2024-03-10Z'],
    ['mStart', 'mEnd', '2024-03-01Z', '2024-04-01Z'],
    ['-1mStart', '-1mEnd', '2024-02-01Z', '2024-03-01Z'],
    ['yStart', 'yEnd', '2024-01-01Z', '2025-01-01Z'],
    ['-24h', undefined, '2024-03-09T12:34:56.789Z', '2024-03-11Z'],
    ['-24h', '-1h', '2024-03-09T12:34:56.789Z', '2024-03-10T11:34:56.790Z'],
    ['2024-01-31', '2024-01-31', '2024-01-31Z', '2024-02-01Z'],
    ['2024-1-1', '2024-02-29', '2024-01-01Z', '2024-03-01Z'],
    ['2024-01-31T22:00:00', '2024-02-01T08:00', '2024-01-31Z', '2024-02-02Z'],
    ['2024-01-31T22:00:00-05:00', '2024-02-01 08:00:00.5Z', '2024-02-01Z', '2024-02-02Z'],
    ['2024-05-01', '2024-04-01', '2024-05-01Z', '2024-04-02Z'],
  ])('from %s to %s holds whole days, or hours', (dateFrom, dateTo, from, until) => {
    expect(range({ dateFrom, dateTo })).toEqual([from, until]);
  });

  test('is exact by the hour, and where it is meant to be', () => {
    const asked = { dateFrom: '2024-01-31T22:00:00', dateTo: '2024-02-01T08:00' };
    const exact = ['2024-01-31T22:00:00Z', '2024-02-01T08:00:00.001Z'];
    expect(range({ ...asked, interval: 'hour' })).toEqual(exact);
    expect(range({ ...asked, explicitDate: true })).toEqual(exact);
    expect(range({ ...asked, explicitDate: true, interval: 'month' })).toEqual(exact);
    expect(range({ interval: 'hour' })).toEqual(['2024-03-03T12:34:56.789Z', '2024-03-10T12:34:56.790Z']);
  });

  test('begins with a whole week or month', () => {
    expect(range({ dateFrom: '2024-03-06', interval: 'week' })[0]).toBe('2024-03-03Z');
    expect(range({ dateFrom: '2024-03-03', interval: 'week' })[0]).toBe('2024-03-03Z');
    expect(range({ dateFrom: '2024-03-03', interval: 'week' }, { weekStart: 'monday' })[0]).toBe(
      '2024-02-26Z',
    );
    expect(range({ dateFrom: '-1m', interval: 'month' })[0]).toBe('2024-02-01Z');
  });

  test('begins with the first event where it takes in all', () => {
    const earliest = Date.parse('2019-05-17T18:00:00Z');
    expect(range({ dateFrom: 'all' }, { earliest })[0]).toBe('2019-05-17Z');
    expect(range({ dateFrom: 'all', interval: 'month' }, { earliest })[0]).toBe('2019-05-01Z');
    expect(range({ dateFrom: 'all' })[0]).toBe('2024-03-03Z');
  });

  test("is read in the project's time zone, its short and long days among them", () => {
    const timeZone = 'America/New_York'; // summer time began on this very day
    expect(range({ dateFrom: 'dStart' }, { timeZone })).toEqual([
      '2024-03-10T00:00:00-05:00',
      '2024-03-11T00:00:00-04:00',
    ]);
    expect(range({ dateFrom: '2024-01-31', dateTo: '2024-01-31T23:30:00-08:00' }, { timeZone })).toEqual([
      '2024-01-31T00:00:00-05:00',
      '2024-02-02T00:00:00-05:00', // 02:30 on the first of February in New York
    ]);
  });

  test.each([
    'soon',
    'd',
    '-7',
    '-7x',
    '2024-02-30',
    '2024-13-01',
    '-9999y',
    '12345d',
    '2024-01-01T25:00',
    '-7dMiddle',
  ])('is refused with %s', (text) => {
    for (const [asked, attr] of [
      [{ dateFrom: text }, 'date_from'],
      [{ dateTo: text }, 'date_to'],
    ] as const) {
      const refused = (): unknown => range(asked);
      expect(refused).toThrow(ApiError);
      expect(refused).toThrow(
        expect.objectContaining({ envelope: expect.objectContaining({ code: 'invalid_input', attr }) }),
      );
    }
  });

  test('of any text is read or refused', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...'0123456789-+:.TZhdwmqySatrtEnd ') }),
    );
    const timeZone = fc.constantFrom('utc', 'America/New_York', 'Asia/Kathmandu');
    fc.assert(
      fc.property(
        text,
        text,
        fc.constantFrom('hour', 'day', 'week', 'month'),
        timeZone,
        (dateFrom, dateTo, interval, zone) => {
          try {
            const { from, until } = parseDateRange(
              { dateFrom, dateTo, interval },
              { now: NOW, timeZone: zone },
            );
            expect([from.isValid, until.isValid]).toEqual([true, true]);
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('intervals', () => {
  const starts = (asked: Partial<AskedRange>, context: Partial<RangeContext> = {}) =>
    listIntervalStarts(parseDateRange({ interval: 'day', ...asked }, { now: NOW, ...context })).map((date) =>
      date.toISO(),
    );

  test('begin on their unit, the first perhaps before the range', () => {
    expect(starts({ dateFrom: '-2d' })).toEqual([
      '2024-03-08T00:00:00.000Z',
      '2024-03-09T00:00:00.000Z',
      '2024-03-10T00:00:00.000Z',
    ]);
    expect(starts({ dateFrom: '-1h', interval: 'hour' })).toEqual([
      '2024-03-10T11:00:00.000Z',
      '2024-03-10T12:00:00.000Z',
    ]);
    expect(starts({ dateFrom: '2024-02-28', interval: 'week' })).toEqual([
      '2024-02-25T00:00:00.000Z',
      '2024-03-03T00:00:00.000Z',
      '2024-03-10T00:00:00.000Z',
    ]);
    expect(starts({ dateFrom: '2023-12-31', interval: 'month' })).toEqual([
      '2023-12-01T00:00:00.000Z',
      '2024-01-01T00:00:00.000Z',
      '2024-02-01T00:00:00.000Z',
      '2024-03-01T00:00:00.000Z',
    ]);
    expect(starts({ dateFrom: '2024-05-01', dateTo: '2024-04-01' })).toEqual([]);
  });

  test('are 23 hours on the day that summer time begins', () => {
    const hours = starts(
      { dateFrom: '2024-03-10', dateTo: '2024-03-10T23:59:59', interval: 'hour' },
      { timeZone: 'America/New_York' },
    );
    expect(hours).toHaveLength(23);
    expect(hours[2]).toBe('2024-03-10T03:00:00.000-04:00');
  });

  test('are bounded in number', () => {
    const from = (days: number) => new Date(NOW - days * 86_400_000).toISOString().slice(0, 10);
    expect(starts({ dateFrom: from(MAX_INTERVALS - 1) })).toHaveLength(MAX_INTERVALS);
    expect(() => starts({ dateFrom: from(MAX_INTERVALS) })).toThrow(/10000 intervals/);
  });

  test('are read by name', () => {
    expect(['hour', 'minute', 'day', '', null, undefined, 'week', 'month'].map(parseInterval)).toEqual([
      'hour',
      'hour',
      'day',
      'day',
      'day',
      'day',
      'week',
      'month',
    ]);
    for (const given of ['decade', 5, {}, 'toString']) expect(() => parseInterval(given)).toThrow(ApiError);
  });
});

describe('an interval that is chosen from the data', () => {
  const DAY_MS = 86_400_000;
  test.each([
    [2 * DAY_MS, 'hour', 'day'],
    [100 * DAY_MS, 'day', 'week'],
    [730 * DAY_MS, 'week', 'month'],
  ])('up to %i ms is %s, above it %s', (span, below, above) => {
    expect([chooseInterval(span), chooseInterval(span + 1)]).toEqual([below, above]);
  });

  test.each([
    ['2023-11-03T08:00:00Z', '2023-11-12T11:17:05Z', ['2023-11-03', '2023-11-13', 'day']],
    ['2023-11-03T08:00:00Z', '2023-11-03T08:00:00Z', ['2023-11-03', '2023-11-04', 'hour']],
    ['2022-06-01T08:00:00Z', '2023-11-12T11:17:05Z', ['2022-05-29', '2023-11-13', 'week']],
    ['2015-06-15T08:00:00Z', '2023-11-12T11:17:05Z', ['2015-06-01', '2023-11-13', 'month']],
    ['2024-03-01T00:00:00Z', '2024-03-10T12:00:00Z', ['2024-03-01', '2024-03-11', 'day']],
  ])('from %s, with the last event at %s', (first, last, expected) => {
    const all = parseDateRange(
      { dateFrom: 'all', interval: 'day' },
      { now: NOW, earliest: Date.parse(first) },
    );
    const { from, until, interval } = fitRange(all, Date.parse(last));
    expect([from.toISODate(), until.toISODate(), interval]).toEqual(expected);
  });

  test('keeps a range that has no events, or that ends before them', () => {
    const asked = parseDateRange({ dateFrom: '-7d', interval: 'day' }, { now: NOW });
    for (const last of [undefined, Date.parse('2020-01-01'), NOW + 90 * DAY_MS]) {
      expect(fitRange(asked, last).until.toMillis()).toBe(asked.until.toMillis());
    }
  });
});
