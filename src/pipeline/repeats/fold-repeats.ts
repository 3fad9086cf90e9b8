import { setImmediate as nextTurn } from 'node:timers/promises';
import { giveBuffer, takeBuffer } from '../../lib/spare-buffers.ts';
import {
  FINGERPRINT_WORDS,
  type FingerprintRows,
  getKind,
  OF_EVENT,
  OF_WHOLE,
  toEventKey,
  unpackRecord,
} from '../../state/fingerprints.ts';
import { decideKey, type FoldedRecord, type FoldVisitor, type Rows } from './decide-repeats.ts';

const FIRST_ROWS = 16 * 1024;
const KEY_WORDS = 3;
/** Rows that are compared between two turns of the event loop: some 20 ms. */
const ROWS_PER_TURN = 64 * 1024;

/**
 * Folds the fingerprints of a range over all parts. Of equal records one stays delivered and the others are
 * duplicates. Of records with one key and different contents the smallest content stays; of each other
 * content one record collides, and the others are its duplicates. Which of equal records stays depends on the
 * order of parts; how many of each day and name do not. A record of several events has a row as a whole, by which
 * it repeats others, and one for each event, by which it collides. Beside the rows that are folded there may be those of
 * other senders (`addOthers`): of a key that these have, their contents stay, and no row of theirs is counted.
 *
 * Memory: 24 bytes a row, and 12 for the table over them. It is what parts were in before, and the next range takes it
 * again: what was made for each range would be garbage that V8 leaves for long.
 */
export class RepeatFold {
  #words = takeNumbers(FIRST_ROWS * FINGERPRINT_WORDS);
  #rows = 0;
  /** Over the keys of the rows, and the next row of the same key, while they are folded. */
  #table = takeNumbers(0);
  #next = takeNumbers(0);
  /** First row of each run of rows of one part and day. */
  #runs: { readonly firstRow: number; readonly source: number; readonly day: string }[] = [];

  /** Once rows of others were added: how many are not theirs, and a table over the keys of these. */
  #own: { readonly rows: number; readonly table: Int32Array } | undefined;
  /** Of others: the sender of each source, and rows that it does not count as delivered. */
  readonly #senders = new Map<number, string>();
  readonly #rejected = new Set<number>();

  /** Those of others left out. */
  get rows(): number {
    return this.#own?.rows ?? this.#rows;
  }

  /** Forgets all rows. */
  clear(): void {
    this.#rows = 0;
    this.#runs = [];
    this.#own = undefined;
    this.#senders.clear();
    this.#rejected.clear();
  }

  /** Gives its memory back; it must not be used any more. */
  close(): void {
    this.clear();
    for (const numbers of [this.#words, this.#table, this.#next]) giveNumbers(numbers);
    this.#words = this.#table = this.#next = new Int32Array(0);
  }

  add(source: number, { words, runs }: FingerprintRows): void {
    this.#reserve(this.#rows + words.length / FINGERPRINT_WORDS);
    this.#words.set(words, this.#rows * FINGERPRINT_WORDS);
    for (const { day, rows } of runs) {
      this.#runs.push({ firstRow: this.#rows, source, day });
      this.#rows += rows;
    }
  }

  /**
   * Adds rows of another sender that have the key of one of these; called once all of these are added. `isRejected`:
   * whether that sender rejected a record because of an event, so that another content of the key stays.
   */
  async addOthers(
    source: number,
    { words, runs }: FingerprintRows,
    sender: string,
    isRejected: (record: number, eventKey: string | undefined) => boolean,
  ): Promise<void> {
    this.#senders.set(source, sender);
    this.#own ??= { rows: this.#rows, table: await this.#indexKeys() };
    let at = 0;
    for (const { day, rows } of runs) {
      this.#runs.push({ firstRow: this.#rows, source, day });
      for (const end = at + rows * FINGERPRINT_WORDS; at < end; at += FINGERPRINT_WORDS) {
        const word = words[at + FINGERPRINT_WORDS - 1] as number;
        const kind = getKind(word);
        if (kind === OF_WHOLE || !this.#isOwnKey(words, at)) continue;
        const eventKey = kind === OF_EVENT ? toEventKey(words, at) : undefined;
        if (isRejected(unpackRecord(word).record, eventKey)) this.#rejected.add(this.#rows);
        this.#reserve(this.#rows + 1);
        this.#words.set(words.subarray(at, at + FINGERPRINT_WORDS), this.#rows * FINGERPRINT_WORDS);
        this.#rows += 1;
      }
      await nextTurn();
    }
  }

  async fold(visitor: FoldVisitor): Promise<void> {
    const words = this.#words;
    this.#table = takeZeros(this.#table, countSlots(this.#rows));
    this.#next = takeZeros(this.#next, this.#rows);
    const table = this.#table;
    /** From the last row of a key that was found; 0 at the end. */
    const next = this.#next;
    /** Slots whose key has several rows. */
    const repeated = new Set<number>();
    for (let row = 0; row < this.#rows; row += 1) {
      if (row % ROWS_PER_TURN === 0) await nextTurn();
      const at = row * FINGERPRINT_WORDS;
      const slot = findSlot(table, words, words, at);
      const known = table[slot] as number;
      table[slot] = row + 1;
      if (known === 0) continue;
      next[row] = known;
      repeated.add(slot);
    }

    const all: Rows = {
      own: this.rows,
      compareContents: (a, b) => this.#compareContents(a, b),
      getKind: (row) => getKind(words[row * FINGERPRINT_WORDS + FINGERPRINT_WORDS - 1] as number),
      getSender: (row) => this.#senders.get(this.#findRun(row).source),
      isRejected: (row) => this.#rejected.has(row),
      toRecord: (row) => this.#toRecord(row),
    };
    let seen = 0;
    for (const slot of repeated) {
      const rows: number[] = [];
      for (let row = table[slot] as number; row !== 0; row = next[row - 1] as number) rows.push(row - 1);
      decideKey(rows, all, visitor);
      seen += rows.length;
      if (seen < ROWS_PER_TURN) continue;
      seen = 0;
      await nextTurn();
    }
  }

  async #indexKeys(): Promise<Int32Array> {
    const words = this.#words;
    const table = new Int32Array(countSlots(this.#rows));
    for (let row = 0; row < this.#rows; row += 1) {
      if (row % ROWS_PER_TURN === 0) await nextTurn();
      table[findSlot(table, words, words, row * FINGERPRINT_WORDS)] = row + 1;
    }
    return table;
  }

  #isOwnKey(words: Int32Array, at: number): boolean {
    return (
      this.#own !== undefined && this.#own.table[findSlot(this.#own.table, this.#words, words, at)] !== 0
    );
  }

  #compareContents(a: number, b: number): number {
    const words = this.#words;
    for (let word = KEY_WORDS; word < FINGERPRINT_WORDS - 1; word += 1) {
      const difference =
        ((words[a * FINGERPRINT_WORDS + word] as number) >>> 0) -
        ((words[b * FINGERPRINT_WORDS + word] as number) >>> 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #findRun(row: number) {
    let low = 0;
    for (let high = this.#runs.length; high - low > 1; ) {
      const middle = (low + high) >>> 1;
      if ((this.#runs[middle]?.firstRow ?? 0) <= row) low = middle;
      else high = middle;
    }
    const run = this.#runs[low];
    if (!run) throw new Error('a row belongs to no part');
    return run;
  }

  #toRecord(row: number): FoldedRecord {
    const run = this.#findRun(row);
    const at = row * FINGERPRINT_WORDS;
    const word = this.#words[at + FINGERPRINT_WORDS - 1] as number;
    const eventKey = getKind(word) === OF_EVENT ? toEventKey(this.#words, at) : undefined;
    return { source: run.source, day: run.day, eventKey, ...unpackRecord(word) };
  }

  #reserve(rows: number): void {
    if (rows * FINGERPRINT_WORDS <= this.#words.length) return;
    const larger = takeNumbers(Math.max(rows * FINGERPRINT_WORDS, 2 * this.#words.length));
    larger.set(this.#words.subarray(0, this.#rows * FINGERPRINT_WORDS));
    giveNumbers(this.#words);
    this.#words = larger;
  }
}

const countSlots = (rows: number): number => 2 ** Math.ceil(Math.log2(1.5 * rows + 2));

type Numbers = Int32Array<ArrayBuffer>;

/** At least so many, with anything in them. */
function takeNumbers(count: number): Numbers {
  const { buffer, byteLength } = takeBuffer(count * Int32Array.BYTES_PER_ELEMENT);
  return new Int32Array(buffer as ArrayBuffer, 0, Math.floor(byteLength / Int32Array.BYTES_PER_ELEMENT));
}

const giveNumbers = ({ buffer }: Numbers): void => giveBuffer(Buffer.from(buffer));

/** So many zeros, in the memory of the numbers or in more where they are too few. */
function takeZeros(numbers: Numbers, count: number): Numbers {
  const { buffer } = numbers;
  if (buffer.byteLength >= count * Int32Array.BYTES_PER_ELEMENT)
    return new Int32Array(buffer, 0, count).fill(0);
  giveNumbers(numbers);
  return takeZeros(takeNumbers(count), count);
}

/** Where the key of `wanted` at `at` is in a table over the rows of `words`, or would be. */
function findSlot(table: Int32Array, words: Int32Array, wanted: Int32Array, at: number): number {
  const mask = table.length - 1;
  let slot = (wanted[at] as number) & mask;
  for (let known = table[slot] as number; known !== 0; known = table[slot] as number) {
    const from = (known - 1) * FINGERPRINT_WORDS;
    let word = 0;
    while (word < KEY_WORDS && words[from + word] === wanted[at + word]) word += 1;
    if (word === KEY_WORDS) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}
