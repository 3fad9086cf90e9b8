import { DateTime } from 'luxon';
import { invalidInput } from '../http/errors.ts';
import { applyRelativeDate, parseIsoDate, parseRelativeDate } from './date-text.ts';
import { chooseInterval, type Interval, toIntervalStart, type WeekStart } from './interval.ts';

/** What a request says about time, as it came. */
export interface AskedRange {
  readonly dateFrom?: string | null | undefined;
  readonly dateTo?: string | null | undefined;
  readonly interval: Interval;
  /**
   * Both ends are exact: nothing is rounded.
   * @default false
   */
  readonly explicitDate?: boolean;
}

export interface RangeContext {
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * IANA name.
   * @default 'UTC'
   */
  readonly timeZone?: string;
  /** @default Sunday, as in the service */
  readonly weekStart?: WeekStart;
  /**
   * Time of the first event, in milliseconds since 1970: where `all` begins.
   * @default a week ago
   */
  readonly earliest?: number | undefined;
}

/** A span of time in the project's zone; empty where it ends before it begins. */
export interface DateRange {
  readonly from: DateTime<true>;
  /** The first moment after it. */
  readonly until: DateTime<true>;
  readonly interval: Interval;
  readonly weekStart: WeekStart;
}

const DEFAULT_FROM = '-7d';

/**
 * The span that a request asks for: the last seven days until now where it does not say. It takes in whole
 * days unless it is about hours, and begins with a whole interval where that is a week or a month.
 */
export function parseDateRange(asked: AskedRange, context: RangeContext): DateRange {
  const { interval, explicitDate = false, dateTo } = asked;
  const { weekStart = 'sunday' } = context;
  const dateFrom = asked.dateFrom || DEFAULT_FROM;
  const now = DateTime.fromMillis(context.now, { zone: context.timeZone ?? 'utc' });
  if (!now.isValid) throw new Error(`${context.timeZone} is no time zone`);
  // An hour is told by its letter, as the service does it.
  const isExact = (text: string) => explicitDate || interval === 'hour' || text.includes('h');

  const start = dateFrom === 'all' ? toEarliest(context, now) : readDate(dateFrom, now, 'date_from');
  const firstDay = isExact(dateFrom) ? start : start.startOf('day');
  const from = isExact(dateFrom) ? firstDay : toIntervalStart(firstDay, interval, weekStart);
  const end = dateTo ? readDate(dateTo, now, 'date_to') : now;
  const until = isExact(dateTo ?? '') ? end.plus(1) : end.startOf('day').plus({ days: 1 });
  return { from, until, interval, weekStart };
}

/**
 * The same span with the interval that suits it, without the days after the last event (milliseconds since
 * 1970): what was imported may have ended years ago.
 */
export function fitRange(range: DateRange, last: number | undefined): DateRange {
  const { from, weekStart } = range;
  const lastDay = last === undefined ? range.until : dayAfter(last, from);
  const until = lastDay > from && lastDay < range.until ? lastDay : range.until;
  const interval = chooseInterval(until.toMillis() - from.toMillis());
  return { from: toIntervalStart(from, interval, weekStart), until, interval, weekStart };
}

function dayAfter(time: number, { zone }: DateTime<true>): DateTime<true> {
  const date = DateTime.fromMillis(time, { zone });
  if (!date.isValid) throw new Error(`${time} is no time`);
  return date.startOf('day').plus({ days: 1 });
}

function toEarliest({ earliest }: RangeContext, now: DateTime<true>): DateTime<true> {
  const date = earliest === undefined ? now.minus({ days: 7 }) : DateTime.fromMillis(earliest, now);
  return date.isValid ? date : now;
}

/** ISO 8601 or relative to now; without an offset in the zone of `now`. Throws an ApiError (400) with `attr`. */
export function readDate(text: string, now: DateTime<true>, attr: string): DateTime<true> {
  const relative = parseRelativeDate(text);
  const date = relative
    ? applyRelativeDate(relative, now)
    : parseIsoDate(text, now.zoneName)?.date.setZone(now.zone);
  if (date?.isValid) return date;
  throw invalidInput(
    `"${text.slice(0, 60)}" is no date: write 2024-01-31, 2024-01-31T08:00:00, -7d, mStart or the like.`,
    attr,
  );
}
