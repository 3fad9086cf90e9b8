import {
  type EncodedFingerprints,
  getKind,
  getRecord,
  OF_EVENT,
  OF_ONE,
  OF_WHOLE,
  packRecord,
  toEventKey,
} from '../state/fingerprints.ts';
import { encodeRows, type FingerprintRows, RECORD_AT, WORDS } from './encode-fingerprints.ts';
import { HASH_WORDS } from './event-writer.ts';
import type { Labels } from './labels.ts';

/** Keys and contents of the events of a record, and their days and names. */
interface HashedEvents {
  readonly hashes: Int32Array;
  readonly labels: readonly number[];
}

/**
 * The fingerprints of the records of one part: it tells a true repeat (same uuid, event name, distinct_id, UTC
 * day and content) from a different record of the same key, and encodes what the fold over all parts needs.
 * Flat memory: rows of numbers and a hash table over them.
 */
export class Fingerprints {
  readonly #words: Int32Array;
  readonly #table: Int32Array;
  readonly #labelOf: Uint32Array;
  #rows = 0;
  /** Rows and labels of single events of records that are several: only the fold over all parts compares them. */
  #eventWords = new Int32Array(0);
  readonly #eventLabels: number[] = [];

  /** @param records Most records that are added. */
  constructor(records: number) {
    this.#words = new Int32Array(records * WORDS);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(2 * records + 2)));
    this.#labelOf = new Uint32Array(records);
  }

  /**
   * Returns the number of the record that this one repeats, or undefined for one that is sent. `hash`: key and
   * content of the record; `label`: its day and event. One of several events is compared as a whole.
   */
  add(
    record: number,
    hash: Int32Array,
    label: number,
    kind: typeof OF_ONE | typeof OF_WHOLE = OF_ONE,
  ): number | undefined {
    const words = this.#words;
    const slot = this.#findSlot(hash);
    const known = this.#table[slot] as number;
    if (known !== 0) return getRecord(words[(known - 1) * WORDS + RECORD_AT] as number);
    const row = this.#rows;
    const at = row * WORDS;
    for (let word = 0; word < HASH_WORDS; word += 1) words[at + word] = hash[word] as number;
    this.#table[slot] = row + 1;
    words[at + RECORD_AT] = packRecord(record, 0, kind);
    this.#labelOf[row] = label;
    this.#rows += 1;
    return undefined;
  }

  /** The same without adding it. */
  find(hash: Int32Array): number | undefined {
    const known = this.#table[this.#findSlot(hash)] as number;
    return known === 0 ? undefined : getRecord(this.#words[(known - 1) * WORDS + RECORD_AT] as number);
  }

  /** Where the row of a record is in the table, or would be. */
  #findSlot(hash: Int32Array): number {
    const words = this.#words;
    const table = this.#table;
    const mask = table.length - 1;
    let slot = (hash[0] as number) & mask;
    for (let known = table[slot] as number; known !== 0; known = table[slot] as number) {
      if (isEqual(hash, words, (known - 1) * WORDS)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** The same for a record of several events. */
  addSeveral(record: number, hash: Int32Array, label: number, events: HashedEvents): number | undefined {
    const first = this.add(record, hash, label, OF_WHOLE);
    if (first === undefined) this.addEvents(record, events);
    return first;
  }

  /** Of a record that is rejected whatever comes of them: it repeats no other one, and none repeats it. */
  addEvents(record: number, { hashes, labels }: HashedEvents): void {
    let row = this.#eventLabels.length;
    const needed = (row + labels.length) * WORDS;
    if (needed > this.#eventWords.length) {
      const larger = new Int32Array(Math.max(needed, 2 * this.#eventWords.length));
      larger.set(this.#eventWords);
      this.#eventWords = larger;
    }
    for (const [index, eventLabel] of labels.entries()) {
      const own = hashes.subarray(index * HASH_WORDS, (index + 1) * HASH_WORDS);
      this.#eventWords.set(own, row * WORDS);
      this.#eventWords[row * WORDS + RECORD_AT] = packRecord(record, 0, OF_EVENT);
      this.#eventLabels.push(eventLabel);
      row += 1;
    }
  }

  /** The key of one event of a record of several. */
  getEventKey(record: number, event: number): string {
    const words = this.#eventWords;
    let low = 0;
    for (let high = this.#eventLabels.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if (getRecord(words[middle * WORDS + RECORD_AT] as number) < record) low = middle + 1;
      else high = middle;
    }
    return toEventKey(words, (low + event) * WORDS);
  }

  /**
   * Rows by day and bucket, but for those of rejected records; of these only events that were accepted all the same
   * (`wasAccepted`, asked for records of several). `names`: the event names by which the part's
   * tally counts, in its order; others are in `(other)`.
   */
  encode(
    isRejected: (record: number) => boolean,
    labels: Labels,
    names: readonly string[],
    wasAccepted: (record: number, key: string) => boolean = () => false,
  ): EncodedFingerprints & { readonly rows: number } {
    const listed = this.#listRows();
    return encodeRows(listed, labels, names, (row, word) => {
      const record = getRecord(word);
      if (!isRejected(record)) return false;
      return getKind(word) !== OF_EVENT || !wasAccepted(record, toEventKey(listed.words, row * WORDS));
    });
  }

  /** Those of records, and behind them those of single events. */
  #listRows(): FingerprintRows {
    const labelOf = this.#labelOf.subarray(0, this.#rows);
    const events = this.#eventLabels.length;
    if (events === 0) return { words: this.#words, labelOf, rows: this.#rows };
    const rows = this.#rows + events;
    const words = new Int32Array(rows * WORDS);
    words.set(this.#words.subarray(0, this.#rows * WORDS));
    words.set(this.#eventWords.subarray(0, events * WORDS), this.#rows * WORDS);
    const labels = new Uint32Array(rows);
    labels.set(labelOf);
    labels.set(this.#eventLabels, this.#rows);
    return { words, labelOf: labels, rows };
  }
}

function isEqual(hash: Int32Array, words: Int32Array, at: number): boolean {
  for (let word = 0; word < RECORD_AT; word += 1) if (hash[word] !== words[at + word]) return false;
  return true;
}
