import { isAscii } from 'node:buffer';
import { isJsonObject } from '../../http/json.ts';
import { mayHoldTooMany, parseSafely, parseStrictly } from '../../http/safe-json.ts';
import { type ScannedBatch, type ScannedItem, scanBatch, scanSingle } from './scan-batch.ts';

/** A larger one is parsed with all the rest, whose containers are counted together. */
const MAX_ENVELOPE_CHARACTERS = 64 * 1024;

/** What a request says. */
export interface Payload {
  readonly value: unknown;
  /** Of each event, the text of its properties as it was sent (UTF-8), where that can be stored. */
  readonly propertiesTexts?: readonly (Uint8Array | undefined)[];
}

/**
 * Parses a batch item by item. So one event with numbers of many digits, escapes or long texts costs no other
 * one the careful parser, and the text of properties need not be written again.
 *
 * Where the pieces are is known from scan-batch.ts, and proved here: they are JSON each, and so is what is left
 * with a 0 in the place of each. Undefined, when that is not so or the batch has something to refuse: the
 * caller then parses the whole text, and finds the error in it.
 */
export function parseBatch(bytes: Buffer): Payload | undefined {
  const scanned = scanBatch(bytes);
  if (scanned === undefined || mayHoldTooMany(bytes.length, scanned.containers)) return undefined;
  const readText = isAscii(bytes) ? readLatin1 : readUtf8;
  try {
    const envelope = parseEnvelope(bytes, scanned);
    if (envelope === undefined) return undefined;
    const batch: unknown[] = [];
    const propertiesTexts: (Uint8Array | undefined)[] = [];
    for (const item of scanned.items) {
      const value = parseItem(bytes, item, readText);
      if (value === undefined) return undefined;
      batch.push(value);
      propertiesTexts.push(getPropertiesText(bytes, item));
    }
    return { value: { ...envelope, batch }, propertiesTexts };
  } catch {
    return undefined;
  }
}

/** The same of a small body that is one event. Undefined where it is not, or has something to refuse. */
export function parseSingle(bytes: Buffer): Payload | undefined {
  const item = bytes.length <= MAX_ENVELOPE_CHARACTERS ? scanSingle(bytes) : undefined;
  if (item === undefined) return undefined;
  try {
    const value = parseItem(bytes, item, isAscii(bytes) ? readLatin1 : readUtf8);
    const isSingle = isJsonObject(value) && !Object.hasOwn(value, 'batch');
    return isSingle ? { value, propertiesTexts: [getPropertiesText(bytes, item)] } : undefined;
  } catch {
    return undefined;
  }
}

type ReadText = (bytes: Buffer, start: number, end: number) => string;

const readLatin1: ReadText = (bytes, start, end) => bytes.toString('latin1', start, end);
const readUtf8: ReadText = (bytes, start, end) => bytes.toString('utf8', start, end);

function parseEnvelope(
  bytes: Buffer,
  { headEnd, tailStart }: ScannedBatch,
): Readonly<Record<string, unknown>> | undefined {
  const head = readUtf8(bytes, 0, headEnd);
  const tail = readUtf8(bytes, tailStart, bytes.length);
  if (head.length + tail.length > MAX_ENVELOPE_CHARACTERS) return undefined;
  // The member that was found must be the only one of its name.
  if (head.includes('"batch"') || tail.includes('"batch"') || tail.includes('\\')) return undefined;
  const envelope = parseSafely(`${head}"batch":0${tail}`);
  return isJsonObject(envelope) && envelope['batch'] === 0 ? envelope : undefined;
}

function parseItem(bytes: Buffer, item: ScannedItem, readText: ReadText): unknown {
  const { start, end, propertiesStart, propertiesEnd } = item;
  const parse = item.hasLongNumber || item.isSuspect ? parseStrictly : JSON.parse;
  if (propertiesStart === 0) return parse(readText(bytes, start, end));
  const rest = `${readText(bytes, start, propertiesStart)}0${readText(bytes, propertiesEnd, end)}`;
  const value = parse(rest) as Record<string, unknown>;
  if (value['properties'] !== 0) return undefined;
  value['properties'] = parse(readText(bytes, propertiesStart, propertiesEnd));
  return value;
}

/** Undefined where other text is stored: numbers are kept in one spelling. */
function getPropertiesText(bytes: Buffer, item: ScannedItem): Uint8Array | undefined {
  const { propertiesStart, propertiesEnd, hasOtherSpelling } = item;
  return propertiesStart === 0 || hasOtherSpelling
    ? undefined
    : bytes.subarray(propertiesStart, propertiesEnd);
}
