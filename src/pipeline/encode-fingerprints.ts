import type { FingerprintSection } from '../contract/progress.ts';
import {
  type EncodedFingerprints,
  FINGERPRINT_BUCKETS,
  FINGERPRINT_BYTES,
  FINGERPRINT_NAMES_MAX,
  getFingerprintBucket,
  getKind,
  getRecord,
  OF_EVENT,
  packRecord,
} from '../state/fingerprints.ts';
import { HASH_WORDS } from './event-writer.ts';
import type { Labels } from './labels.ts';
import { OTHER_EVENTS } from './tally.ts';

/** Behind the hashes of a row are the number of its record and its kind. */
export const RECORD_AT = HASH_WORDS;
/** 32-bit words of a row. */
export const WORDS = RECORD_AT + 1;
/** Fewer rows of a day are read at once. */
const BUCKETED_ROWS = 16 * FINGERPRINT_BUCKETS;
/** The place of a row that is left out. */
const NOWHERE = -1;

/** Rows of hashes, record and kind, and the label of each. */
export interface FingerprintRows {
  readonly words: Int32Array;
  readonly labelOf: Uint32Array;
  readonly rows: number;
}

/**
 * Sorts rows by day and bucket. `names`: the event names by which the part's tally counts, in its order; others are in
 * `(other)`. `isLeftOut` is asked once for each row, with its word of record and kind.
 *
 * Each loop over the rows is a function of its own over arrays of numbers: V8 compiles one large function for every
 * kind of array that it meets, which took a sixth of all compilation.
 */
export function encodeRows(
  rows: FingerprintRows,
  labels: Labels,
  names: readonly string[],
  isLeftOut: (row: number, word: number) => boolean,
): EncodedFingerprints & { readonly rows: number } {
  const days = [...new Set(labels.all.map(({ day }) => day))].toSorted();
  const counts = new Int32Array(days.length * FINGERPRINT_BUCKETS);
  const places = findPlaces(rows, rankLabels(labels, days), isLeftOut);
  const kept = countPlaces(places, counts);
  const encoded = sortRows(rows, places, toStarts(counts), indexNames(labels, names), kept);
  return {
    rows: kept,
    eventRows: countEventRows(encoded),
    body: Buffer.from(encoded.buffer, 0, kept * FINGERPRINT_BYTES),
    sections: listSections(days, counts),
  };
}

/** Day and bucket of each row. */
function findPlaces(
  { words, labelOf, rows }: FingerprintRows,
  rankOf: Int32Array,
  isLeftOut: (row: number, word: number) => boolean,
): Int32Array {
  const places = new Int32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    const at = row * WORDS;
    places[row] = isLeftOut(row, words[at + RECORD_AT] as number)
      ? NOWHERE
      : (rankOf[labelOf[row] as number] as number) * FINGERPRINT_BUCKETS +
        getFingerprintBucket(words[at] as number);
  }
  return places;
}

/** Adds up `counts`, and returns the sum of all. */
function countPlaces(places: Int32Array, counts: Int32Array): number {
  let kept = 0;
  for (let row = 0; row < places.length; row += 1) {
    const place = places[row] as number;
    if (place === NOWHERE) continue;
    counts[place] = (counts[place] as number) + 1;
    kept += 1;
  }
  return kept;
}

function toStarts(counts: Int32Array): Int32Array {
  const starts = new Int32Array(counts.length);
  for (let place = 1; place < counts.length; place += 1) {
    starts[place] = (starts[place - 1] as number) + (counts[place - 1] as number);
  }
  return starts;
}

/** `starts` is where the first row of each place goes, and is moved on. */
function sortRows(
  { words, labelOf }: FingerprintRows,
  places: Int32Array,
  starts: Int32Array,
  nameOf: Int32Array,
  kept: number,
): Int32Array {
  const sorted = new Int32Array(kept * WORDS);
  for (let row = 0; row < places.length; row += 1) {
    const place = places[row] as number;
    if (place === NOWHERE) continue;
    const start = starts[place] as number;
    starts[place] = start + 1;
    const from = row * WORDS;
    const to = start * WORDS;
    for (let word = 0; word < RECORD_AT; word += 1) sorted[to + word] = words[from + word] as number;
    const word = words[from + RECORD_AT] as number;
    const name = nameOf[labelOf[row] as number] as number;
    sorted[to + RECORD_AT] = packRecord(getRecord(word), name, getKind(word));
  }
  return sorted;
}

function countEventRows(encoded: Int32Array): number {
  let count = 0;
  for (let at = RECORD_AT; at < encoded.length; at += WORDS) {
    if (getKind(encoded[at] as number) === OF_EVENT) count += 1;
  }
  return count;
}

/** The rank of the day of each label. */
function rankLabels({ all }: Labels, days: readonly string[]): Int32Array {
  const ranks = new Map(days.map((day, rank) => [day, rank]));
  return Int32Array.from(all, ({ day }) => ranks.get(day) ?? 0);
}

/** The index of the event name of each label. */
function indexNames({ all }: Labels, names: readonly string[]): Int32Array {
  const indexOf = new Map(names.slice(0, FINGERPRINT_NAMES_MAX).map((name, index) => [name, index]));
  const other = indexOf.get(OTHER_EVENTS) ?? 0;
  return Int32Array.from(
    all,
    ({ event }) => indexOf.get(event === '__proto__' ? '(__proto__)' : event) ?? other,
  );
}

function listSections(days: readonly string[], counts: Int32Array): FingerprintSection[] {
  return days.flatMap((day, rank): FingerprintSection[] => {
    const buckets = [...counts.subarray(rank * FINGERPRINT_BUCKETS, (rank + 1) * FINGERPRINT_BUCKETS)];
    const rows = buckets.reduce((sum, count) => sum + count, 0);
    if (rows === 0) return [];
    return [{ day, rows, ...(rows < BUCKETED_ROWS ? {} : { buckets }) }];
  });
}
