import { DateTime } from 'luxon';
import { carriesZone, DATE_LOCALE } from './date-format.ts';
import { readText } from './identity.ts';
import { createToInstant, isUtc, type ToInstant } from './local-time.ts';

/** ISO 8601 in UTC with milliseconds, or undefined when the value cannot be read. Never "now" (I8). */
export type ReadTime = (value: unknown) => string | undefined;

/** The same in milliseconds since 1970; NaN when the value cannot be read. */
export type ReadMs = (value: unknown) => number;

export const readEpochMs: ReadMs = (value) => readEpoch(value, 0);
export const readEpochSeconds: ReadMs = (value) => readEpoch(value, 3);

/** Finer fractions are cut, not rounded, so that an event never moves into the next second. */
export function createReadTime(format: string, zone: string): ReadTime {
  switch (format) {
    case 'iso':
      return createReadIso(zone);
    case 'epoch_s':
      return (value) => toIso(readEpochSeconds(value));
    case 'epoch_ms':
      return (value) => toIso(readEpochMs(value));
    case 'epoch_us':
      return (value) => toIso(readEpoch(value, -3));
    case 'epoch_ns':
      return (value) => toIso(readEpoch(value, -6));
    default:
      return createReadPattern(format, zone);
  }
}

/** `2023-05-01[T12:00[:00[.123456]]]`, a blank for the T, with or without `Z`, `UTC` or `±hh[[:]mm]`. */
export function createReadIso(zone: string): ReadTime {
  const toInstant = createToInstant(zone);
  const zoneIsUtc = isUtc(zone);
  return (value) => {
    if (typeof value !== 'string') return undefined;
    // The usual export text needs no more than slicing: some forty nanoseconds instead of five hundred.
    const text = value.trim();
    const date = readDate(text);
    if (date === undefined) return undefined;
    if (text.length === 10) return toInstantText(`${date}00:00:00.000Z`, zoneIsUtc, toInstant);
    if (!isClock(text)) return undefined;

    const hasSeconds = text.charCodeAt(16) === COLON;
    const second = hasSeconds ? digits(text, 17, 19) : 0;
    if (!(second <= 59)) return undefined;
    let end = hasSeconds ? 19 : 16;
    if (hasSeconds && isPointOrComma(text.charCodeAt(19))) {
      end = 20;
      while (isDigit(text.charCodeAt(end))) end += 1;
      if (end === 20) return undefined;
    }
    const iso = `${date}${readClock(text, end)}Z`;
    if (end === text.length) return toInstantText(iso, zoneIsUtc, toInstant);
    const offsetMinutes = readOffset(text.slice(end));
    if (offsetMinutes === undefined) return undefined;
    return toInstantText(iso, offsetMinutes === 0, (wallMs) => wallMs - offsetMinutes * MINUTE_MS);
  };
}

/** What `isClock` accepted, up to `end`, with milliseconds. */
function readClock(text: string, end: number): string {
  // As most exports write it.
  if (end >= 23 && text.charCodeAt(19) === POINT) return text.slice(11, 23);
  if (end === 16) return `${text.slice(11, 16)}:00.000`;
  return `${text.slice(11, 19)}.${text.slice(20, Math.min(end, 23)).padEnd(3, '0')}`;
}

/** Of the text that was read last: neighbouring records share their day. */
let lastDate = '';
let lastStart = '';

/** The day that a text begins with, as the start of an ISO text: `2023-05-01T`. */
function readDate(text: string): string | undefined {
  if (lastDate !== '' && text.startsWith(lastDate)) return lastStart;
  if (!isDate(text)) return undefined;
  lastDate = text.slice(0, 10);
  lastStart = `${lastDate}T`;
  return lastStart;
}

/**
 * A pattern of Luxon tokens. Clock changes follow the rule of local-time.ts, not Luxon's: of an hour that occurs twice
 * Luxon takes the one with today's offset, so the same text would be another instant in winter.
 */
function createReadPattern(pattern: string, zone: string): ReadTime {
  const parser = DateTime.buildFormatParser(pattern, DATE_LOCALE);
  const hasOwnZone = carriesZone(pattern);
  const options = { ...DATE_LOCALE, ...(hasOwnZone ? { setZone: true } : { zone: 'utc' }) };
  const toInstant = hasOwnZone ? undefined : createToInstant(zone);
  return (value) => {
    const text = readText(value);
    if (text === undefined) return undefined;
    const read = DateTime.fromFormatParser(text.trim(), parser, options);
    if (!read.isValid) return undefined;
    return toIso(toInstant ? toInstant(read.toMillis()) : readInItsZone(read));
  };
}

/** The instant of a time whose text names its zone, or has an offset. */
function readInItsZone(read: DateTime): number {
  if (read.zone.type !== 'iana') return read.toMillis();
  return findToInstant(read.zone.name)(read.toMillis() + read.offset * MINUTE_MS);
}

/** By name: the texts of an export name the same few zones. */
const zones = new Map<string, ToInstant>();
const ZONES_KEPT = 1_000;

function findToInstant(zone: string): ToInstant {
  let toInstant = zones.get(zone);
  if (toInstant === undefined) {
    toInstant = createToInstant(zone);
    if (zones.size === ZONES_KEPT) zones.clear();
    zones.set(zone, toInstant);
  }
  return toInstant;
}

const MINUTE_MS = 60_000;

/**
 * Epoch text or number, its decimal point moved by `shift` places to milliseconds. Worked on as text:
 * nanoseconds have 19 digits. A time in 1970 is a unit declared too small, not an early event.
 */
function readEpoch(value: unknown, shift: number): number {
  const text = readText(value)?.trim() ?? '';
  const isExact = shift === 0 && text.length <= EXACT_DIGITS;
  const whole = isExact ? digits(text, 0, text.length) : Number.NaN;
  const ms = Number.isNaN(whole) ? movePoint(text, shift) : whole;
  return ms >= FIRST_EPOCH_MS && ms < END_MS ? ms : Number.NaN;
}

function movePoint(text: string, shift: number): number {
  const match = EPOCH.exec(text);
  if (!match) return Number.NaN;
  const [, whole = '', fraction = ''] = match;
  return Number(
    shift >= 0 ? whole + fraction.slice(0, shift).padEnd(shift, '0') : whole.slice(0, shift) || '0',
  );
}

const EPOCH = /^(\d{1,20})(?:\.(\d*))?$/;
/** Of a number that a double holds exactly. */
const EXACT_DIGITS = 15;

/** The last years that are taken for a real event's. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2100;
const FIRST_MS = Date.UTC(FIRST_YEAR, 0);
const FIRST_EPOCH_MS = Date.UTC(FIRST_YEAR + 1, 0);
const END_MS = Date.UTC(LAST_YEAR + 1, 0);

function toIso(ms: number): string | undefined {
  return ms >= FIRST_MS && ms < END_MS ? new Date(ms).toISOString() : undefined;
}

let lastDay = '';
let lastDayMs = 0;

/** Date.parse of what a ReadTime returns, at a quarter of its cost: neighbouring records share their day. */
export function parseIso(iso: string): number {
  if (!iso.startsWith(lastDay) || lastDay === '') {
    lastDay = iso.slice(0, 10);
    lastDayMs = Date.parse(`${lastDay}T00:00:00.000Z`);
  }
  const seconds = (digits(iso, 11, 13) * 60 + digits(iso, 14, 16)) * 60 + digits(iso, 17, 19);
  return lastDayMs + seconds * 1000 + digits(iso, 20, 23);
}

function toInstantText(iso: string, asItIs: boolean, toInstant: ToInstant): string | undefined {
  if (!asItIs) return toIso(toInstant(Date.parse(iso)));
  const year = digits(iso, 0, 4);
  return year >= FIRST_YEAR && year <= LAST_YEAR ? iso : undefined;
}

function isDate(text: string): boolean {
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return false;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function isClock(text: string): boolean {
  const gap = text.charCodeAt(10);
  if ((gap !== BLANK && gap !== UPPER_T && gap !== LOWER_T) || text.charCodeAt(13) !== COLON) return false;
  return digits(text, 11, 13) <= 23 && digits(text, 14, 16) <= 59;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const OFFSET = /^ ?(?:z|utc|gmt|([+-])(\d\d)(?::?(\d\d))?)$/i;

/** Minutes east of Greenwich, or undefined when this is no offset on earth. */
function readOffset(text: string): number | undefined {
  const match = OFFSET.exec(text);
  if (!match) return undefined;
  const [, sign, hours, minutes = '0'] = match;
  if (hours === undefined) return 0;
  const total = Number(hours) * 60 + Number(minutes);
  if (Number(minutes) > 59 || total > 14 * 60) return undefined;
  return sign === '-' ? -total : total;
}

/** The number these characters spell, NaN when one is no digit; NaN fails every comparison above. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return Number.NaN;
    value = value * 10 + code - ZERO;
  }
  return value;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= 57;
const isPointOrComma = (code: number): boolean => code === POINT || code === COMMA;
const ZERO = 48;
const DASH = 45;
const POINT = 46;
const COMMA = 44;
const COLON = 58;
const BLANK = 32;
const UPPER_T = 84;
const LOWER_T = 116;
