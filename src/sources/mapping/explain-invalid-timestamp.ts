import { DateTime } from 'luxon';
import { DATE_LOCALE } from './date-format.ts';
import { readText } from './identity.ts';

/** What is wrong with a value that was not read as a time, where that can be known. */
export function explainInvalidTimestamp(value: unknown, format: string): string | undefined {
  const text = readText(value)?.trim();
  if (text === undefined) return undefined;
  if (format === 'iso') return typeof value === 'string' ? whyNoIso(text) : NUMBER;
  if (format.startsWith('epoch_')) return undefined;
  const { invalidReason } = DateTime.fromFormat(text, format, { zone: 'utc', ...DATE_LOCALE });
  return invalidReason === 'unit out of range' ? NO_SUCH : undefined;
}

const NUMBER = 'a number is read as epoch_s or epoch_ms, where mapping.timestamp.format can be declared';
const NO_SUCH = 'there is no such day or time of day';

const DATE = /^(\d{4})-(\d\d)-(\d\d)(?=\D|$)/;
const CLOCK = /^[ Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?/;

function whyNoIso(text: string): string | undefined {
  const date = DATE.exec(text);
  if (!date) return undefined;
  const [year, month, day] = date.slice(1).map(Number);
  if (!DateTime.utc(year ?? 0, month ?? 0, day ?? 0).isValid) return NO_SUCH;
  const clock = CLOCK.exec(text.slice(10));
  if (!clock) return undefined;
  const [hour = 0, minute = 0, second = 0] = clock.slice(1).map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return NO_SUCH;
  const zone = /^ ?([A-Za-z]{2,5})$/.exec(text.slice(10 + clock[0].length))?.[1];
  if (zone === undefined) return undefined;
  return `the zone abbreviation ${zone} is not read, as such names stand for several zones; an offset such as +02:00 is`;
}
