import { isExactNumber } from '../../lib/json/exact-number.ts';

/** The destination cuts longer ids, and two long ids may then become one person. UTF-16 units. */
export const ID_MAX_LENGTH = 200;

/**
 * The text of an id exactly as exported: leading zeros, 19 digits and "123.456" survive. Undefined
 * when there is none, or only a placeholder for none.
 */
export function readId(value: unknown): string | undefined {
  const text = readText(value);
  return text === undefined || isJunkId(text) ? undefined : text;
}

/** The same without the blanks around it. */
export function readTrimmedId(value: unknown): string | undefined {
  const text = readText(value)?.trim();
  return text === undefined || isJunkId(text) ? undefined : text;
}

/** Text of a string or number as exported; undefined for everything else. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return isExactNumber(value) ? value.digits : undefined;
}

/**
 * Whether an id identifies nobody. The destination refuses to merge persons by these, and a client that
 * sends one sends it for everybody: as a distinct id it would be one giant person.
 */
export function isJunkId(text: string): boolean {
  if (HAS_NUMBER.test(text)) return false;
  if (text.length > LONGEST_JUNK && text !== NIL_UUID) return text.trim() === '';
  if (text === NIL_UUID) return true;
  const bare = text.replace(QUOTED, '$2').trim();
  return bare === '' || JUNK_EXACT.has(bare) || JUNK_ANY_CASE.has(bare.toLowerCase());
}

const JUNK_ANY_CASE = new Set([
  'anonymous',
  'guest',
  'distinctid',
  'distinct_id',
  'id',
  'not_authenticated',
  'email',
  'undefined',
  'true',
  'false',
]);

/** Case decides here: `Nan` and `NONE` may be what a person calls themselves. */
const JUNK_EXACT = new Set(['[object Object]', 'NaN', 'None', 'none', 'null', 'NULL', '0']);

/** What iOS hands out as advertising id when tracking is off, and some set-ups use as device id. */
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** No name above has another digit than 0, and most ids have. */
const HAS_NUMBER = /[1-9]/;

const QUOTED = /^(['"])(.*)\1$/;

/** The longest name above, in quotes, with some blanks around. */
const LONGEST_JUNK = 24;
