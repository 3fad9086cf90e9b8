import { hash } from 'node:crypto';
import { toHashable } from '../../lib/hashable-text.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { parseWhole } from '../../lib/json/record-view.ts';

/** The project's own namespace (RFC 9562, version 5). Changing it would make every old event a new one. */
const NAMESPACE = Buffer.from('7b1f0c52e6a94c0d9c5e2f4a8d3b6e17', 'hex');

/** Room for the usual key; longer ones get a buffer of their own. */
const scratch = Buffer.alloc(16 + 4096);
NAMESPACE.copy(scratch);

/**
 * UUID v5 over the parts of a natural key. Each part is written with its length in front, so that
 * ('ab', 'c') and ('a', 'bc') stay two keys.
 */
export const createEventId = (parts: readonly string[]): string => toUuid(sha1(encodeKey(parts)));

/** In front of the last text that `createEventIdInPlace` gets. */
export const HEAD_BYTES = 512;

/** The same of texts and a last one, which is ASCII in `bytes`, from HEAD_BYTES on. What is in front of it is written over. */
export function createEventIdInPlace(parts: readonly string[], bytes: Buffer, end: number): string {
  const length = end - HEAD_BYTES;
  let start = HEAD_BYTES - countDigits(length) - 1;
  for (const part of parts) start -= countDigits(part.length) + 1 + part.length;
  const from = start - NAMESPACE.length;
  if (from < 0 || !writeHead(parts, length, bytes, start))
    return createEventId([...parts, bytes.toString('latin1', HEAD_BYTES, end)]);
  for (let at = 0; at < NAMESPACE.length; at += 1) bytes[from + at] = NAMESPACE[at] as number;
  return toUuid(hash('sha1', bytes.subarray(from, end), 'hex'));
}

/** As encodeKey, of texts and one of this length. False where one is not ASCII. */
function writeHead(parts: readonly string[], length: number, bytes: Buffer, start: number): boolean {
  let end = start;
  for (const part of parts) {
    end = writeLength(part.length, bytes, end);
    for (let at = 0; at < part.length; at += 1) {
      const code = part.charCodeAt(at);
      if (code > 0x7f) return false;
      bytes[end + at] = code;
    }
    end += part.length;
  }
  writeLength(length, bytes, end);
  return true;
}

/** In digits, with a colon behind them. Returns where that ends. */
function writeLength(length: number, bytes: Buffer, start: number): number {
  const colon = start + countDigits(length);
  for (let at = colon - 1, rest = length; at >= start; at -= 1) {
    const more = Math.floor(rest / 10);
    bytes[at] = ZERO + rest - 10 * more;
    rest = more;
  }
  bytes[colon] = COLON;
  return colon + 1;
}

function countDigits(number: number): number {
  let digits = 1;
  for (let rest = number; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
  return digits;
}

const ZERO = 0x30;
const COLON = 0x3a;

function toUuid(hex: string): string {
  for (let digit = 0; digit < DIGITS; digit += 1) putDigit(digit, hex.charCodeAt(digit));
  return formatUuid(FIVE);
}

function putDigit(digit: number, code: number): void {
  uuid[PLACES[digit] as number] = code;
}

/** Of the digits that were put; the version and the variant take the place of one each. */
function formatUuid(version: number): string {
  uuid[VERSION_AT] = version;
  uuid[VARIANT_AT] = toVariant(uuid[VARIANT_AT] as number);
  return uuid.toString('latin1');
}

const uuid = Buffer.alloc(36, '-');
const DIGITS = 32;
/** Where each digit is in the text. */
const PLACES = Uint8Array.from({ length: DIGITS }, (_, digit) =>
  [8, 12, 16, 20].reduce((place, from) => (digit < from ? place : place + 1), digit),
);
const VERSION_AT = 14;
const VARIANT_AT = 19;
const FIVE = 0x35;
const SEVEN = 0x37;

/** The digit with the same lower bits whose upper ones are those of the variant: 8, 9, a or b. */
const toVariant = (digit: number): number => VARIANTS[(digit <= 0x39 ? digit : digit - 0x57) & 0x3] as number;
const VARIANTS = [0x38, 0x39, 0x61, 0x62];

/**
 * Where the uuid of an event comes from. `vendor`: the id that the export gives its record, and the whole
 * record only where it gives none. `record`: always the whole record, for a replay of different records that
 * the vendor gave one id (`same_id_other_content`): they share a uuid only where every field is alike.
 */
export type IdFrom = 'vendor' | 'record';

/** For records without a natural key: over the whole record, in whatever order its fields come. */
export function createRecordId(source: string, record: Readonly<Record<string, unknown>>): string {
  return createEventId([source, 'record', canonicalJson(parseWhole(record))]);
}

/**
 * The vendor's own event uuid in lower case, or undefined when it is none. The nil and the max uuid
 * are placeholders that many events may share, and would make them repeats of each other.
 */
export function readUuid(value: unknown): string | undefined {
  if (typeof value !== 'string' || !UUID.test(value)) return undefined;
  const uuid = value.toLowerCase();
  return PLACEHOLDER.test(uuid) ? undefined : uuid;
}

/**
 * UUID v7 that carries the start of a session, as the destination wants its `$session_id`; the rest
 * of its bits come from the session's natural key instead of chance.
 */
export function createSessionUuid(startMs: number, parts: readonly string[]): string {
  const hex = sha1(encodeKey(parts));
  for (let digit = TIME_DIGITS - 1, rest = startMs; digit >= 0; digit -= 1) {
    const more = Math.floor(rest / 16);
    putDigit(digit, HEX.charCodeAt(rest - more * 16));
    rest = more;
  }
  for (let digit = TIME_DIGITS + 1; digit < DIGITS; digit += 1)
    putDigit(digit, hex.charCodeAt(digit - TIME_DIGITS - 1));
  return formatUuid(SEVEN);
}
const TIME_DIGITS = 12;
const HEX = '0123456789abcdef';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const PLACEHOLDER = /^[0-]+$|^[f-]+$/;

/** One text for one list of texts: ('ab', 'c') and ('a', 'bc') stay two. */
export function encodeKey(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += `${part.length}:${part}`;
  return text;
}

function sha1(key: string): string {
  const text = toHashable(key);
  // A UTF-16 unit takes at most three bytes in UTF-8.
  if (text.length * 3 > scratch.length - 16) {
    return hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(text, 'utf8')]), 'hex');
  }
  const end = 16 + scratch.write(text, 16, 'utf8');
  return hash('sha1', scratch.subarray(0, end), 'hex');
}
