/**
 * Finds the items of a `/batch/` body and their properties in its bytes, in one pass, without parsing. What it
 * says is a guess until each piece has been parsed as JSON by itself (parse-batch.ts): a text that is not JSON
 * can look like anything.
 */
export interface ScannedItem {
  /** Where its brace opens. */
  readonly start: number;
  /** Behind its closing brace. */
  readonly end: number;
  /** The same of the object `properties`; 0 when it has none, or not exactly one. */
  readonly propertiesStart: number;
  readonly propertiesEnd: number;
  /** Has a number that a double may not hold. */
  readonly hasLongNumber: boolean;
  /** Has an escape by its code, or a text that may be too long for a key. */
  readonly isSuspect: boolean;
  /** Has a number that JavaScript may write in another way: 1.10, 1E5. */
  readonly hasOtherSpelling: boolean;
}

export interface ScannedBatch {
  readonly items: readonly ScannedItem[];
  /** What is before the member `batch`, and behind it. */
  readonly headEnd: number;
  readonly tailStart: number;
  /** Objects and lists of all items. */
  readonly containers: number;
}

const OPENING = '"batch":[';
/** Nested deeper, an item is left to the other parser. */
const MAX_DEPTH = 64;
/** Bytes of a text that cannot be too long for a key. */
const MAX_KEY_BYTES = 1000;
/** Digits and points of a number that always survives a double. */
const MAX_SAFE_LENGTH = 14;

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** `e` and `E` differ in this bit. */
const CASE_BIT = 0x20;
const LOWER_E = 0x65;

/** Undefined where the body is not of this form; then another parser decides what it is. */
export function scanBatch(bytes: Buffer): ScannedBatch | undefined {
  const headEnd = bytes.indexOf(OPENING);
  if (headEnd === -1) return undefined;
  const items: ScannedItem[] = [];
  const counter = { containers: 0 };
  let at = skipSpace(bytes, headEnd + OPENING.length);
  if (bytes[at] === CLOSE_BRACKET) return { items, headEnd, tailStart: at + 1, containers: 0 };
  for (;;) {
    const item = scanItem(bytes, at, counter);
    if (item === undefined) return undefined;
    items.push(item);
    at = skipSpace(bytes, item.end);
    if (bytes[at] === CLOSE_BRACKET) break;
    if (bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
  return { items, headEnd, tailStart: at + 1, containers: counter.containers };
}

/** The same of a body that is one item and nothing else. */
export function scanSingle(bytes: Buffer): ScannedItem | undefined {
  const item = scanItem(bytes, skipSpace(bytes, 0), { containers: 0 });
  return item !== undefined && skipSpace(bytes, item.end) === bytes.length ? item : undefined;
}

function scanItem(bytes: Buffer, start: number, counter: { containers: number }): ScannedItem | undefined {
  if (bytes[start] !== OPEN_BRACE) return undefined;
  const { length } = bytes;
  let depth = 0;
  let propertiesStart = 0;
  let propertiesEnd = 0;
  let isAmbiguous = false;
  let hasLongNumber = false;
  let isSuspect = false;
  let hasOtherSpelling = false;
  for (let at = start; at < length; at += 1) {
    const code = bytes[at] ?? 0;
    if (code === QUOTE) {
      const textStart = at + 1;
      let inner = 0;
      for (at = textStart; at < length; at += 1) {
        inner = bytes[at] ?? 0;
        if (inner === QUOTE) break;
        if (inner !== BACKSLASH) continue;
        at += 1;
        if (bytes[at] === LOWER_U) isSuspect = true;
        if (depth === 1) isAmbiguous = true; // a key may be spelled with escapes
      }
      if (at - textStart > MAX_KEY_BYTES) isSuspect = true;
      if (depth === 1 && bytes[at + 1] === COLON && isProperties(bytes, textStart, at)) {
        if (propertiesStart !== 0) isAmbiguous = true;
        if (bytes[at + 2] === OPEN_BRACE) propertiesStart = at + 2;
      }
    } else if (code >= ZERO && code <= NINE) {
      const numberStart = at;
      let hasPoint = false;
      let hasExponent = false;
      let last = code;
      for (at += 1; at < length; at += 1) {
        const next = bytes[at] ?? 0;
        if (next >= ZERO && next <= NINE) last = next;
        else if (next === POINT) hasPoint = true;
        else if ((next | CASE_BIT) === LOWER_E) hasExponent = true;
        else if (next !== PLUS && next !== MINUS) break;
      }
      if (hasExponent || at - numberStart > MAX_SAFE_LENGTH) hasLongNumber = true;
      if (hasExponent || (hasPoint && last === ZERO)) hasOtherSpelling = true;
      at -= 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      counter.containers += 1;
      if (depth > MAX_DEPTH) return undefined;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 1 && propertiesStart !== 0 && propertiesEnd === 0) propertiesEnd = at + 1;
      if (depth === 0) {
        if (isAmbiguous || propertiesEnd === 0) propertiesStart = propertiesEnd = 0;
        const end = at + 1;
        return { start, end, propertiesStart, propertiesEnd, hasLongNumber, isSuspect, hasOtherSpelling };
      }
    }
  }
  return undefined;
}

const PROPERTIES = Buffer.from('properties');

function isProperties(bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== PROPERTIES.length) return false;
  for (let at = 0; at < PROPERTIES.length; at += 1) if (bytes[start + at] !== PROPERTIES[at]) return false;
  return true;
}

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at += 1;
  return at;
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
