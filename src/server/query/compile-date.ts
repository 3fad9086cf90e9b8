import { DateTime } from 'luxon';
import { type Sql, sql } from '../database/sql.ts';
import { applyRelativeDate, parseIsoDate, parseRelativeDate } from './date-text.ts';

/** The range of a date of a filter, in ISO 8601: a whole day, or one second. */
export interface FilterDate {
  readonly from: string;
  readonly until: string;
}

/** A date of a property filter; what has no zone is UTC, `-7d` is that long before `now`. */
export function readFilterDate(text: string, now: number): FilterDate | undefined {
  const iso = parseIsoDate(text, 'utc');
  if (iso !== undefined) return span(iso.date, iso.precision);
  const relative = parseRelativeDate(text);
  if (relative === undefined || relative.edge !== undefined) return undefined;
  const date = applyRelativeDate(relative, DateTime.fromMillis(now, { zone: 'utc' }));
  return date && span(date, 'second');
}

function span(date: DateTime<true>, precision: 'day' | 'second'): FilterDate {
  const utc = date.toUTC();
  const until = precision === 'day' ? utc.plus({ days: 1 }) : utc.plus({ seconds: 1 });
  return { from: utc.toISO(), until: until.toISO() };
}

/**
 * The instant of a stored text, null for anything else. The pattern lets through only what the
 * cast takes, whatever the day and year: Postgres raises an error for a date that does not exist.
 */
export function storedDate(value: Sql, text: Sql): Sql {
  return sql`case when jsonb_typeof(${value}) = 'string' and ${text} ~ ${STORED_DATE}::text then
    case when ${text} ~ ${ZONED}::text then (${text})::timestamptz
    else (${text})::timestamp at time zone 'UTC' end
  end`;
}

const DAY =
  '(?!0000)\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))';
const LEAP_DAY = '(?!0000)(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?';
const ZONE = '(?:Z|[+-](?:0\\d|1[0-4])(?::?[0-5]\\d)?)';

const STORED_DATE = `^(?:${DAY}|${LEAP_DAY})(?:[T ]${TIME} ?${ZONE}?)?$`;
const ZONED = `:.*${ZONE}$`;

const STORED_DATE_PATTERN = new RegExp(STORED_DATE);

/** Whether `storedDate` takes a text for a date. */
export const isStoredDate = (text: string): boolean => STORED_DATE_PATTERN.test(text);
