import { isStoredDate } from '../compile-date.ts';

const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)? ?(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$/;

/** Microseconds since 1970 of a stored text, the resolution of PostgreSQL; undefined for anything else. */
export function readStoredDate(text: string): bigint | undefined {
  if (!isStoredDate(text)) return undefined;
  const [
    ,
    year,
    month,
    day,
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    zone = '0',
    zoneMinute = '0',
  ] = DATE.exec(text) ?? [];
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const ahead = (Math.abs(Number(zone)) * 60 + Number(zoneMinute)) * (zone.startsWith('-') ? -1 : 1);
  const micros = Math.round(Number(`0.${fraction || '0'}`) * 1e6);
  return toMicros(date.getTime() - ahead * 60_000) + BigInt(micros);
}

export const toMicros = (ms: number): bigint => BigInt(ms) * 1000n;
