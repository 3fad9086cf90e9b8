import { isJsonObject } from '../../http/json.ts';
import { parseSafely } from '../../http/safe-json.ts';
import { MAX_EVENTS } from '../limits.ts';
import { ItemReader } from './item-reader.ts';

/** A larger one is parsed with all the rest, whose containers are counted together. */
const MAX_ENVELOPE_CHARACTERS = 64 * 1024;

/** What a request says. */
export interface Payload {
  /** Of an event whose text is in `propertiesTexts`, at least what ingestion reads of it. */
  readonly value: unknown;
  /** Of each event, the text of its properties as it was sent (UTF-8), where that can be stored. */
  readonly propertiesTexts?: readonly (Uint8Array | undefined)[];
  /** All that it says. */
  readonly parseWhole: () => unknown;
}

type ReadPayload = Omit<Payload, 'parseWhole'>;

const OPENING = '"batch":[';
/** Levels around an item of a batch. */
const BATCH_DEPTH = 2;

const reader = new ItemReader();

/**
 * Reads a batch item by item (item-reader.ts), so that one event with numbers of many digits, escapes or long texts
 * costs no other one the careful parser, and the text of properties need not be written again. What is around the
 * items has to be JSON with a 0 in their place.
 *
 * Undefined, when that is not so or the batch has something to refuse: the caller then parses the whole text, and finds
 * the error in it.
 */
export function parseBatch(bytes: Buffer): ReadPayload | undefined {
  return tryRead(() => {
    const headEnd = bytes.indexOf(OPENING);
    if (headEnd === -1) return undefined;
    const batch: unknown[] = [];
    const propertiesTexts: (Uint8Array | undefined)[] = [];
    let at = skipSpace(bytes, headEnd + OPENING.length);
    while (bytes[at] !== CLOSE_BRACKET) {
      if (batch.length === MAX_EVENTS) return undefined;
      if (batch.length > 0) {
        if (bytes[at] !== COMMA) return undefined;
        at = skipSpace(bytes, at + 1);
      }
      const { value, propertiesText, end } = reader.readAny(bytes, at, BATCH_DEPTH);
      batch.push(value);
      propertiesTexts.push(propertiesText);
      at = skipSpace(bytes, end);
    }
    const envelope = parseEnvelope(bytes, headEnd, at + 1);
    return envelope && { value: { ...envelope, batch }, propertiesTexts };
  });
}

/** The same of a small body that is one event. Undefined where it is not, or has something to refuse. */
export function parseSingle(bytes: Buffer): ReadPayload | undefined {
  if (bytes.length > MAX_ENVELOPE_CHARACTERS) return undefined;
  return tryRead(() => {
    const item = reader.readUsual(bytes, skipSpace(bytes, 0), 0);
    if (item === undefined || skipSpace(bytes, item.end) !== bytes.length) return undefined;
    const { value, propertiesText } = item;
    const isSingle = isJsonObject(value) && !Object.hasOwn(value, 'batch');
    return isSingle ? { value, propertiesTexts: [propertiesText] } : undefined;
  });
}

function tryRead(read: () => ReadPayload | undefined): ReadPayload | undefined {
  reader.begin();
  try {
    return read();
  } catch {
    return undefined;
  } finally {
    reader.end();
  }
}

function parseEnvelope(
  bytes: Buffer,
  headEnd: number,
  tailStart: number,
): Readonly<Record<string, unknown>> | undefined {
  const head = bytes.toString('utf8', 0, headEnd);
  const tail = bytes.toString('utf8', tailStart);
  if (head.length + tail.length > MAX_ENVELOPE_CHARACTERS) return undefined;
  // The member that was found must be the only one of its name.
  if (head.includes('"batch"') || tail.includes('"batch"') || tail.includes('\\')) return undefined;
  const envelope = parseSafely(`${head}"batch":0${tail}`);
  return isJsonObject(envelope) && envelope['batch'] === 0 ? envelope : undefined;
}

const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

function skipSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at += 1;
  return at;
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
