import { DateTime } from 'luxon';

/** A date of a filter or a range, as an instant in the project's zone. */
export interface ReadDate {
  readonly date: DateTime<true>;
  /** How fine it was written: `2024-01-31` means a day. */
  readonly precision: 'day' | 'second';
}

const ISO_DATE =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** `2024-01-31`, with or without time and offset; without an offset in `timeZone`. `2024-1-1` is accepted. */
export function parseIsoDate(text: string, timeZone: string): ReadDate | undefined {
  const [, year, month = '', day = '', time, offset = ''] = ISO_DATE.exec(text.trim()) ?? [];
  if (year === undefined) return undefined;
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${time ?? '00:00'}${offset}`;
  const date = DateTime.fromISO(iso, { zone: timeZone });
  return isInRange(date) ? { date, precision: time === undefined ? 'day' : 'second' } : undefined;
}

/** Years that Postgres and ISO 8601 write alike. */
function isInRange(date: DateTime): date is DateTime<true> {
  return date.isValid && date.toUTC().year >= 1 && date.toUTC().year <= 9999;
}

/** `-7d`, `-1mStart`, `dEnd`: a span back from now, and then perhaps the edge of the unit. */
export interface RelativeDate {
  readonly count: number;
  readonly unit: 'h' | 'd' | 'w' | 'm' | 'q' | 'y';
  readonly edge?: 'Start' | 'End';
}

const RELATIVE_DATE = /^-?(\d{1,4})?([hdwmqy])(Start|End)?$/;

export function parseRelativeDate(text: string): RelativeDate | undefined {
  const [, count, unit, edge] = RELATIVE_DATE.exec(text.trim()) ?? [];
  if (unit === undefined || (count === undefined && edge === undefined)) return undefined;
  return {
    count: Number(count ?? 0),
    unit: unit as RelativeDate['unit'],
    ...(edge === undefined ? {} : { edge: edge as 'Start' | 'End' }),
  };
}

const UNITS = { h: 'hours', d: 'days', w: 'weeks', m: 'months', q: 'weeks', y: 'years' } as const;
const EDGES = { h: 'hour', d: 'day', w: 'week', m: 'month', q: 'quarter', y: 'year' } as const;
/** The service counts a quarter as 13 weeks. */
const WEEKS_OF_QUARTER = 13;

/** Undefined where that lies outside of the years that can be stored. */
export function applyRelativeDate(relative: RelativeDate, now: DateTime): DateTime<true> | undefined {
  const { count, unit, edge } = relative;
  const span = unit === 'q' ? count * WEEKS_OF_QUARTER : count;
  const back = now.minus({ [UNITS[unit]]: span });
  const date =
    edge === undefined ? back : edge === 'Start' ? back.startOf(EDGES[unit]) : back.endOf(EDGES[unit]);
  return isInRange(date) ? date : undefined;
}
