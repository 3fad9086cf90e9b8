import { DateTime } from 'luxon';
import { MONTHS } from '../../charts/format.ts';
import { type DateRange, readDate } from '../query/date-range.ts';
import { addIntervals, type Interval, listIntervalStarts } from '../query/interval.ts';

/** The span of an insight, cut into its intervals. Times for the database are ISO 8601. */
export interface Buckets {
  readonly from: string;
  /** The first moment after it. */
  readonly until: string;
  /** Where each bucket begins, the first perhaps before `from`. */
  readonly starts: readonly string[];
  /** Where each bucket ends: the first moment after it, the last perhaps after `until`. */
  readonly ends: readonly string[];
  /** `2024-01-31`, by the hour `2024-01-31 08:00:00`. */
  readonly days: readonly string[];
  /** `31-Jan-2024`, by the hour `31-Jan-2024 08:00`. */
  readonly labels: readonly string[];
}

export function cutRange(range: DateRange): Buckets {
  const { interval } = range;
  const starts = range.from < range.until ? listIntervalStarts(range) : [];
  const edges = starts.map(iso);
  return {
    from: iso(range.from),
    until: iso(range.until),
    starts: edges,
    ends: [...edges.slice(1), ...starts.slice(-1).map((last) => iso(addIntervals(last, 1, interval)))],
    days: starts.map((start) => toDay(start, interval)),
    labels: starts.map((start) => toLabel(start, interval)),
  };
}

/** The range as one bucket, for insights of one number. */
export function wholeRange(range: DateRange): Buckets {
  const [from, until] = [iso(range.from), iso(range.until)];
  return { from, until, starts: [from], ends: [until], days: [], labels: [] };
}

/**
 * Index of the bucket that a moment is in, from 1: ISO 8601, or relative to `now` in the zone of the range.
 * Undefined outside of all. Throws an ApiError (400) that names `attr`.
 */
export function findBucketOf(
  date: { readonly text: string; readonly attr: string },
  { starts, ends }: Buckets,
  range: DateRange,
  now: number,
): number | undefined {
  const current = DateTime.fromMillis(now, { zone: range.from.zone });
  if (!current.isValid) throw new Error(`${now} is no time`);
  const moment = readDate(date.text, current, date.attr).toMillis();
  const index = starts.findIndex(
    (start, place) => Date.parse(start) <= moment && moment < Date.parse(ends[place] ?? start),
  );
  return index === -1 ? undefined : index + 1;
}

/** As many intervals earlier as the range has. */
export function previousRange(range: DateRange): DateRange {
  const count = range.from < range.until ? listIntervalStarts(range).length : 0;
  const back = (date: DateTime<true>) => addIntervals(date, -count, range.interval);
  return { ...range, from: back(range.from), until: back(range.until) };
}

// Ten years have thousands of days: formats that are interpreted would take a tenth of a second for them.

const iso = (date: DateTime<true>): string => new Date(date.toMillis()).toISOString();

function toDay({ year, month, day, hour, minute, second }: DateTime<true>, interval: Interval): string {
  const date = `${digits(year, 4)}-${digits(month)}-${digits(day)}`;
  return interval === 'hour' ? `${date} ${digits(hour)}:${digits(minute)}:${digits(second)}` : date;
}

function toLabel({ year, month, day, hour, minute }: DateTime<true>, interval: Interval): string {
  const date = `${day}-${MONTHS[month - 1] ?? ''}-${digits(year, 4)}`;
  return interval === 'hour' ? `${date} ${digits(hour)}:${digits(minute)}` : date;
}

const digits = (value: number, count = 2): string => String(value).padStart(count, '0');
