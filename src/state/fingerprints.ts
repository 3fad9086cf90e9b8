import type { FingerprintIndex, FingerprintSection } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { hashBytes } from './hash-bytes.ts';

/**
 * The fingerprint of a record that was sent: six words of 32 bits, little-endian. Three of its key, two of its
 * content, and one with the number of the record in its part, the index of its event name, and its kind.
 */
export const FINGERPRINT_WORDS = 6;
export const FINGERPRINT_BYTES = 4 * FINGERPRINT_WORDS;

/** A day of many events is folded bucket by bucket. Stored sections depend on it. */
export const FINGERPRINT_BUCKETS = 64;
export const getFingerprintBucket = (firstWord: number): number => firstWord >>> 26;

const RECORD_BITS = 15;
const KIND_BITS = 2;
const NAME_BITS = 32 - RECORD_BITS - KIND_BITS;
export const FINGERPRINT_NAMES_MAX = 2 ** NAME_BITS;

/** What a row is of: a record that is one event, a record of several as a whole, or one event of those. */
export type RowKind = typeof OF_ONE | typeof OF_WHOLE | typeof OF_EVENT;
export const OF_ONE = 0;
export const OF_WHOLE = 1;
export const OF_EVENT = 2;

/** A part has at most 20,000 records, and its tally at most 2,001 names. */
export const packRecord = (record: number, name: number, kind: RowKind = OF_ONE): number =>
  record | (name << RECORD_BITS) | (kind << (RECORD_BITS + NAME_BITS));

export const getRecord = (word: number): number => word & (2 ** RECORD_BITS - 1);
export const getKind = (word: number): RowKind => (word >>> (RECORD_BITS + NAME_BITS)) as RowKind;
export const unpackRecord = (word: number): { readonly record: number; readonly name: number } => ({
  record: getRecord(word),
  name: (word >>> RECORD_BITS) & (2 ** NAME_BITS - 1),
});

/** The key of an event as text, from where its words are. */
export const toEventKey = (words: Int32Array, at: number): string =>
  Buffer.from(words.buffer, words.byteOffset + 4 * at, 4 * KEY_WORDS).toString('hex');
/** And the hash of its content. */
export const toContent = (words: Int32Array, at: number): string =>
  Buffer.from(words.buffer, words.byteOffset + 4 * (at + KEY_WORDS), 4 * CONTENT_WORDS).toString('hex');
const KEY_WORDS = 3;
const CONTENT_WORDS = 2;

export interface EncodedFingerprints {
  readonly body: Buffer;
  /** In order of day, as they follow one another in the body. */
  readonly sections: readonly FingerprintSection[];
  /** Rows among them that are of single events of records that are several. */
  readonly eventRows: number;
}

export async function saveFingerprints(
  staging: Staging,
  key: string,
  { body, sections, eventRows }: EncodedFingerprints,
): Promise<FingerprintIndex> {
  await staging.put(key, body);
  return { key, sections: [...sections], ...(eventRows > 0 ? { eventRows } : {}), sha256: hashBytes(body) };
}

export const countFingerprints = ({ sections }: FingerprintIndex): number =>
  sections.reduce((sum, { rows }) => sum + rows, 0);

/** Where the rows of some days, or of some buckets of a day, are in the object of a part. */
export interface FingerprintRange {
  /** UTC days, the last one included. */
  readonly fromDay: string;
  readonly toDay: string;
  /** Of a single day; up to, but not including, the second. */
  readonly buckets?: readonly [number, number];
}

export interface FingerprintRows {
  readonly words: Int32Array;
  /** Day of each run of rows, in order. */
  readonly runs: readonly { readonly day: string; readonly rows: number }[];
}

/** The rows of a part that a range covers, with one read; undefined when there are none. */
export async function readFingerprints(
  staging: Staging,
  { key, sections }: FingerprintIndex,
  { fromDay, toDay, buckets }: FingerprintRange,
): Promise<FingerprintRows | undefined> {
  let first = 0;
  let rows = 0;
  const runs: { day: string; rows: number }[] = [];
  for (const section of sections) {
    if (section.day < fromDay) first += section.rows;
    else if (section.day <= toDay) {
      runs.push({ day: section.day, rows: section.rows });
      rows += section.rows;
    }
  }
  const only = sections.find(({ day }) => day === fromDay);
  if (buckets && only?.buckets) {
    const sum = (to: number) => (only.buckets ?? []).slice(0, to).reduce((total, count) => total + count, 0);
    first += sum(buckets[0]);
    rows = sum(buckets[1]) - sum(buckets[0]);
    runs.splice(0, runs.length, { day: fromDay, rows });
  }
  if (rows === 0) return undefined;
  const body = await staging.getRange(key, first * FINGERPRINT_BYTES, rows * FINGERPRINT_BYTES);
  const words = toWords(body);
  return buckets && only && !only.buckets ? pickBuckets(words, fromDay, buckets) : { words, runs };
}

/** Over the same memory where that begins at a word. */
function toWords(bytes: Buffer): Int32Array {
  const { buffer, byteOffset, length } =
    bytes.byteOffset % Int32Array.BYTES_PER_ELEMENT === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  return new Int32Array(buffer, byteOffset, length / Int32Array.BYTES_PER_ELEMENT);
}

/** Of a day with few rows, which has no buckets of its own. */
function pickBuckets(
  all: Int32Array,
  day: string,
  [from, to]: readonly [number, number],
): FingerprintRows | undefined {
  // Staging may keep what it gave out.
  const words = all.slice();
  let rows = 0;
  for (let at = 0; at < words.length; at += FINGERPRINT_WORDS) {
    const bucket = getFingerprintBucket(words[at] as number);
    if (bucket < from || bucket >= to) continue;
    words.copyWithin(rows * FINGERPRINT_WORDS, at, at + FINGERPRINT_WORDS);
    rows += 1;
  }
  return rows === 0 ? undefined : { words: words.slice(0, rows * FINGERPRINT_WORDS), runs: [{ day, rows }] };
}
