import { DateTime } from 'luxon';
import { isExactNumber } from '../../../lib/json/exact-number.ts';

const FUTURE_TOLERANCE_MS = 23 * 60 * 60 * 1000;
/** Far more than any form of a time takes. Date and the patterns below are slow on long text. */
const MAX_TIME_LENGTH = 128;
const YEAR_1 = Date.parse('0001-01-01T00:00:00Z');

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const ISO_WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** `… 09:03:11+02:00`, `… 09:03 -0500`, `… 09:03:11 GMT`; not `… 09:03 PM`. */
const ENDS_IN_ZONE = /:\d.*?(?:[+-]\d\d(?::?\d\d)?|\b(?!AM|PM)[A-Z]+|\dZ)$/i;

export type TimeWarning = 'ignored_invalid_timestamp' | 'event_timestamp_in_future';

export interface EventTime {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly warning?: TimeWarning;
}

export interface TimeClaims {
  readonly timestamp: unknown;
  /** Milliseconds between the event and its sending; goes before `timestamp`. */
  readonly offset: unknown;
  /** When the client, by its own clock, sent the request. */
  readonly sentAtMs: number | undefined;
}

/** When an event happened, as PostHog reads it: `sent_at` removes the skew of the client's clock. */
export function readEventTime({ timestamp, offset, sentAtMs }: TimeClaims, nowMs: number): EventTime {
  const offsetMs = readOffset(offset);
  if (offsetMs !== undefined) return bounded(nowMs - offsetMs, nowMs);
  if (timestamp === undefined || timestamp === null || timestamp === '') return { timeMs: nowMs };
  const timeMs = parseTime(timestamp);
  if (timeMs === undefined) return { timeMs: nowMs, warning: 'ignored_invalid_timestamp' };
  return bounded(sentAtMs === undefined ? timeMs : nowMs + (timeMs - sentAtMs), nowMs);
}

/** An offset of 0 counts as none, as it does for the service: it must not move an old event to now. */
export function readOffset(value: unknown): number | undefined {
  const isNumber = typeof value === 'number' || typeof value === 'string' || isExactNumber(value);
  return isNumber ? finite(Number(value)) || undefined : undefined;
}

function bounded(timeMs: number, nowMs: number): EventTime {
  if (timeMs > nowMs + FUTURE_TOLERANCE_MS) return { timeMs: nowMs, warning: 'event_timestamp_in_future' };
  if (timeMs < YEAR_1) return { timeMs: nowMs, warning: 'ignored_invalid_timestamp' };
  return { timeMs };
}

/**
 * What Date reads, else ISO 8601 in its rarer forms; text without a zone is UTC. Numbers are epoch
 * milliseconds.
 */
export function parseTime(value: unknown): number | undefined {
  if (typeof value === 'number' || isExactNumber(value)) return finite(Number(value));
  if (typeof value !== 'string' || value.length > MAX_TIME_LENGTH) return undefined;
  const text = value.trim();
  if (ISO_UTC.test(text)) return finite(Date.parse(text));
  if (ISO_WITHOUT_ZONE.test(text)) return finite(Date.parse(`${text.replace(' ', 'T')}Z`));
  const bare = text.replace(/ \([^()]*\)$/, ''); // the name of the zone behind its offset, as Date writes it
  // Date takes other zone-less forms for local time.
  const timeMs = finite(Date.parse(ENDS_IN_ZONE.test(bare) ? bare : `${bare} UTC`));
  return timeMs ?? finite(DateTime.fromISO(text.replace(' ', 'T'), { zone: 'utc' }).toMillis());
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined);
