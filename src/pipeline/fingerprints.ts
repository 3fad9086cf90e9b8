import type { TargetEvent } from '../contract/event.ts';
import type { FingerprintSection } from '../contract/progress.ts';
import {
  type EncodedFingerprints,
  FINGERPRINT_BUCKETS,
  FINGERPRINT_BYTES,
  FINGERPRINT_NAMES_MAX,
  getFingerprintBucket,
  packRecord,
} from '../state/fingerprints.ts';
import { CONTENT_WORDS, hashEvents, KEY_WORDS } from './event-hash.ts';
import { OTHER_EVENTS } from './tally.ts';

const RECORD_AT = KEY_WORDS + CONTENT_WORDS;
const WORDS = RECORD_AT + 1;
/** Fewer rows of a day are read at once. */
const BUCKETED_ROWS = 16 * FINGERPRINT_BUCKETS;

/**
 * The fingerprints of the records of one part: it tells a true repeat (same uuid, event name, distinct_id, UTC
 * day and content) from a different record of the same key, and encodes what the fold over all parts needs.
 * Flat memory: rows of numbers and a hash table over them.
 */
export class Fingerprints {
  readonly #words: Int32Array;
  readonly #table: Int32Array;
  readonly #days = new Interned();
  readonly #names = new Interned();
  readonly #dayOf: Uint16Array;
  readonly #nameOf: Uint16Array;
  #rows = 0;

  /** @param records Most records that are added. */
  constructor(records: number) {
    this.#words = new Int32Array(records * WORDS);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(2 * records + 2)));
    this.#dayOf = new Uint16Array(records);
    this.#nameOf = new Uint16Array(records);
  }

  /** Returns the number of the record that this one repeats, or undefined for one that is sent. */
  add(record: number, events: readonly TargetEvent[]): number | undefined {
    const words = this.#words;
    const row = this.#rows;
    const at = row * WORDS;
    hashEvents(events, words, at);
    const table = this.#table;
    const mask = table.length - 1;
    let slot = (words[at] as number) & mask;
    for (let known = table[slot] as number; known !== 0; known = table[slot] as number) {
      if (isEqual(words, at, (known - 1) * WORDS)) return words[(known - 1) * WORDS + RECORD_AT];
      slot = (slot + 1) & mask;
    }
    table[slot] = row + 1;
    words[at + RECORD_AT] = record;
    const first = events[0] as TargetEvent;
    this.#dayOf[row] = this.#days.toNumber(first.timestamp.slice(0, 10));
    this.#nameOf[row] = this.#names.toNumber(first.event);
    this.#rows += 1;
    return undefined;
  }

  /**
   * Rows by day and bucket, but for those of rejected records. `names`: the event names by which the part's
   * tally counts, in its order; others are in `(other)`.
   */
  encode(
    isRejected: (record: number) => boolean,
    names: readonly string[],
  ): EncodedFingerprints & { readonly rows: number } {
    const words = this.#words;
    const days = this.#days.values;
    const order = days
      .map((_, index) => index)
      .toSorted((a, b) => ((days[a] ?? '') < (days[b] ?? '') ? -1 : 1));
    const rankOf = new Uint16Array(days.length);
    for (const [rank, day] of order.entries()) rankOf[day] = rank;

    const counts = new Int32Array(days.length * FINGERPRINT_BUCKETS);
    const places = new Int32Array(this.#rows).fill(-1);
    let kept = 0;
    for (let row = 0; row < this.#rows; row += 1) {
      if (isRejected(words[row * WORDS + RECORD_AT] as number)) continue;
      const rank = rankOf[this.#dayOf[row] as number] as number;
      const place = rank * FINGERPRINT_BUCKETS + getFingerprintBucket(words[row * WORDS] as number);
      places[row] = place;
      counts[place] = (counts[place] as number) + 1;
      kept += 1;
    }
    const starts = new Int32Array(counts.length);
    for (let place = 1; place < counts.length; place += 1) {
      starts[place] = (starts[place - 1] as number) + (counts[place - 1] as number);
    }

    const indexOfName = new Map(names.slice(0, FINGERPRINT_NAMES_MAX).map((name, index) => [name, index]));
    const other = indexOfName.get(OTHER_EVENTS) ?? 0;
    const nameIndex = this.#names.values.map(
      (name) => indexOfName.get(name === '__proto__' ? '(__proto__)' : name) ?? other,
    );
    const encoded = new Int32Array(kept * WORDS);
    for (let row = 0; row < this.#rows; row += 1) {
      const place = places[row] as number;
      if (place === -1) continue;
      const to = starts[place] as number;
      starts[place] = to + 1;
      encoded.set(words.subarray(row * WORDS, row * WORDS + RECORD_AT), to * WORDS);
      const name = nameIndex[this.#nameOf[row] as number] as number;
      encoded[to * WORDS + RECORD_AT] = packRecord(words[row * WORDS + RECORD_AT] as number, name);
    }

    const sections = order.map((day, rank): FingerprintSection => {
      const buckets = [...counts.subarray(rank * FINGERPRINT_BUCKETS, (rank + 1) * FINGERPRINT_BUCKETS)];
      const rows = buckets.reduce((sum, count) => sum + count, 0);
      return { day: days[day] ?? '', rows, ...(rows < BUCKETED_ROWS ? {} : { buckets }) };
    });
    return {
      rows: kept,
      body: Buffer.from(encoded.buffer, 0, kept * FINGERPRINT_BYTES),
      sections: sections.filter(({ rows }) => rows > 0),
    };
  }
}

/** Numbers for texts, in the order in which they come. */
class Interned {
  readonly values: string[] = [];
  readonly #numbers = new Map<string, number>();

  toNumber(value: string): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.values.length);
    return this.values.push(value) - 1;
  }
}

function isEqual(words: Int32Array, a: number, b: number): boolean {
  for (let word = 0; word < RECORD_AT; word += 1) if (words[a + word] !== words[b + word]) return false;
  return true;
}
