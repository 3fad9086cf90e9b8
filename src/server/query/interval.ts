import type { DateTime } from 'luxon';
import { DAY_MS } from '../../lib/day.ts';
import { invalidInput } from '../http/errors.ts';

export const INTERVALS = ['hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof INTERVALS)[number];

/** `auto`: chosen from the span of the data. */
export type AskedInterval = Interval | 'auto';

export type WeekStart = 'sunday' | 'monday';

/** `minute` is an hour here, nothing a day. */
export function parseInterval(given: unknown): Interval {
  if (given === undefined || given === null || given === '') return 'day';
  const interval = given === 'minute' ? 'hour' : INTERVALS.find((name) => name === given);
  if (interval !== undefined) return interval;
  throw invalidInput(`The interval must be one of ${INTERVALS.join(', ')}.`, 'interval');
}

/** The finest interval that leaves a span (in milliseconds) readable as a chart: about a hundred at most. */
export function chooseInterval(spanMs: number): Interval {
  if (spanMs <= 2 * DAY_MS) return 'hour';
  if (spanMs <= 100 * DAY_MS) return 'day';
  return spanMs <= 730 * DAY_MS ? 'week' : 'month';
}

export function toIntervalStart(
  date: DateTime<true>,
  interval: Interval,
  weekStart: WeekStart,
): DateTime<true> {
  if (interval !== 'week' || weekStart === 'monday') return date.startOf(interval);
  return date.plus({ days: 1 }).startOf('week').minus({ days: 1 });
}

export function addIntervals(date: DateTime<true>, count: number, interval: Interval): DateTime<true> {
  return date.plus({ [`${interval}s`]: count });
}

/** Enough for a year of hours. */
export const MAX_INTERVALS = 10_000;

/** Where each interval that a range touches begins, the first perhaps before the range. */
export function listIntervalStarts(range: {
  readonly from: DateTime<true>;
  readonly until: DateTime<true>;
  readonly interval: Interval;
  readonly weekStart: WeekStart;
}): DateTime<true>[] {
  const { from, until, interval, weekStart } = range;
  const first = toIntervalStart(from, interval, weekStart);
  const starts: DateTime<true>[] = [];
  // Counted from the first: months do not add up one by one (31 January plus a month, plus a month).
  for (let count = 0; ; count++) {
    const start = addIntervals(first, count, interval);
    if (start >= until) return starts;
    if (count === MAX_INTERVALS) {
      throw invalidInput(`A range may have ${MAX_INTERVALS} intervals: ask for longer ones.`, 'interval');
    }
    starts.push(start);
  }
}
