import { isExactNumber } from '../../lib/json/exact-number.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** Parses the stored text of an object; anything else becomes an empty object. */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJson(text);
  return isJsonObject(value) ? value : {};
}

const OPEN_BRACE = 0x7b;
const SPACE = 0x20;

/** The text of an object (UTF-8) with members at its end: of a name that is there already, jsonb keeps the last. */
export function addMembers(text: Uint8Array, members: string): Uint8Array {
  let last = text.length - 2;
  while ((text[last] as number) <= SPACE) last -= 1;
  const separator = text[last] === OPEN_BRACE ? '' : ',';
  return Buffer.concat([text.subarray(0, -1), Buffer.from(`${separator}${members}}`)]);
}

/**
 * Equal as JSON, at any depth: objects in any order of their keys (jsonb has its own),
 * numbers by their digits where a double cannot hold them.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isExactNumber(a) || isExactNumber(b)) {
    return isNumber(a) && isNumber(b) && String(a) === String(b);
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => sameJson(item, b[at]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

const isNumber = (value: unknown) => typeof value === 'number' || isExactNumber(value);

/** The text of a value as an id: strings and digits as they came, everything else as JSON. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isExactNumber(value) ? value.digits : stringifyJson(value);
}

/** PostgreSQL writes numbers out in full: 1e1000 is 1,001 characters. */
export const MAX_EXPONENT = 1000;
/** How many times longer PostgreSQL can make a text: `,1e1000` becomes 1,002 characters. */
const MAX_GROWTH = Math.ceil((MAX_EXPONENT + 2) / ',1e1000'.length);

/** A number with its exponent, in text as stringifyJson writes it. */
const WITH_EXPONENT = /[:,[]-?\d[\d.]*[eE]([+-]?\d+)(?=[,}\]])/g;
const SOME_EXPONENT = /[:,[]-?\d[\d.]*[eE]/;

/** Length of JSON text when PostgreSQL has written it: `1e400` becomes 401 digits. */
export function writtenLength(text: string): number {
  let length = text.length;
  if (!SOME_EXPONENT.test(text)) return length;
  for (const [, exponent] of text.matchAll(WITH_EXPONENT)) length += Math.abs(Number(exponent));
  return length;
}

/** Whether JSON text has at most `max` characters when PostgreSQL has written it. Most texts are not searched. */
export function isWrittenWithin(text: string, max: number): boolean {
  if (text.length > max) return false;
  return text.length * MAX_GROWTH <= max || writtenLength(text) <= max;
}
