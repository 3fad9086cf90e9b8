import type { Pace } from '../../lib/async/pace.ts';
import { giveBuffer } from '../../lib/spare-buffers.ts';
import { TextBuffer } from '../../lib/text-buffer.ts';
import { ORDER_BITS, ORDERS_OF_BUCKET } from '../bucket.ts';
import { ORDER_DIGITS } from './fact-line.ts';

/** The lines of a bucket. */
export interface BucketText {
  readonly bucket: number;
  readonly body: Buffer;
}

/**
 * Lines by bucket: see writeFact. They are kept as bytes, since as text each would outlive several collections of the
 * young generation, and copying what lives on costs more than making it.
 */
export class BucketLines {
  readonly #text = new TextBuffer(FIRST_BYTES);
  #count = 0;
  /** The lines in order, where that is known. */
  #sorted: Uint32Array | undefined;
  /** Of each line, and of what would follow the last one. */
  #starts = new Uint32Array(FIRST_LINES + 1);
  /** The digits that all lines begin with, as a number: see ORDER_DIGITS. */
  #orders = new Uint32Array(FIRST_LINES);

  /** Begins a line with the digits of its order; `end` has to follow what is written behind them. */
  begin(order: number): TextBuffer {
    const text = this.#text;
    text.reserve(ORDER_DIGITS);
    for (let at = ORDER_DIGITS - 1, rest = order; at >= 0; at -= 1, rest >>>= 4) {
      const digit = rest & 0xf;
      text.bytes[text.end + at] = digit + (digit < 10 ? 0x30 : 0x57);
    }
    text.end += ORDER_DIGITS;
    this.#note(order);
    return text;
  }

  end(): void {
    const text = this.#text;
    text.reserve(1);
    text.bytes[text.end] = LF;
    text.end += 1;
    this.#count += 1;
    this.#starts[this.#count] = text.end;
  }

  /** Of all lines, with their ends. */
  get bytes(): number {
    return this.#text.end;
  }

  /**
   * The same with fewer lines for all that begin with the same `digits`, which are more than those of the order: `join`
   * writes them for some at a time. These lines are of no use afterwards. Where few begin alike, whoever reads them joins
   * them at less cost, and all are left as they are.
   */
  async join(
    digits: number,
    join: (lines: readonly string[], into: BucketLines) => void,
    pace: Pace,
  ): Promise<BucketLines> {
    const sorted = this.#sortLines();
    if (this.#countAlike(sorted, digits) * FEW_ALIKE < sorted.length) {
      this.#sorted = sorted;
      return this;
    }
    const joined = new BucketLines();
    for (let from = 0; from < sorted.length; ) {
      let to = from + 1;
      while (to < sorted.length && this.#beginAlike(sorted[from] ?? 0, sorted[to] ?? 0, digits)) to += 1;
      if (to === from + 1) joined.#copy(this, sorted[from] ?? 0);
      else await this.#joinRow(sorted.subarray(from, to), join, joined, pace);
      if (pace.isDue()) await pace.rest();
      from = to;
    }
    this.release();
    return joined;
  }

  /** Lines that begin as the one before. */
  #countAlike(sorted: Uint32Array, digits: number): number {
    let alike = 0;
    for (let at = 1; at < sorted.length; at += 1)
      if (this.#beginAlike(sorted[at - 1] as number, sorted[at] as number, digits)) alike += 1;
    return alike;
  }

  async #joinRow(
    row: Uint32Array,
    join: (lines: readonly string[], into: BucketLines) => void,
    joined: BucketLines,
    pace: Pace,
  ): Promise<void> {
    let before: readonly string[] = [];
    for (let from = 0; from < row.length; from += JOINED_AT_ONCE) {
      const some = Array.from(row.subarray(from, from + JOINED_AT_ONCE), (line) => this.#read(line));
      const isLast = from + JOINED_AT_ONCE >= row.length;
      const into = isLast ? joined : new BucketLines();
      join([...before, ...some], into);
      if (!isLast) {
        before = Array.from({ length: into.#count }, (_, line) => into.#read(line));
        into.release();
      }
      if (pace.isDue()) await pace.rest();
    }
  }

  #read(line: number): string {
    return this.#text.bytes.toString('utf8', this.#starts[line], (this.#starts[line + 1] ?? 0) - 1);
  }

  #copy(from: BucketLines, line: number): void {
    this.#note(from.#orders[line] ?? 0);
    this.#text.copy(from.#text.bytes, from.#starts[line] ?? 0, (from.#starts[line + 1] ?? 0) - 1);
    this.end();
  }

  #beginAlike(a: number, b: number, digits: number): boolean {
    if (this.#orders[a] !== this.#orders[b]) return false;
    const { bytes } = this.#text;
    const atA = this.#starts[a] ?? 0;
    const atB = this.#starts[b] ?? 0;
    for (let at = ORDER_DIGITS; at < digits; at += 1) if (bytes[atA + at] !== bytes[atB + at]) return false;
    return true;
  }

  /**
   * Buckets with lines, in ascending order, each behind the one before in `whole`; lines are sorted, so that equal
   * facts make equal objects.
   */
  texts(): { readonly whole: Buffer; readonly buckets: readonly BucketText[] } {
    const sorted = this.#sorted ?? this.#sortLines();
    const length = this.#text.end;
    // Within one buffer nothing is made for a line.
    this.#text.reserve(length);
    const { bytes } = this.#text;
    const buckets: BucketText[] = [];
    let start = length;
    let end = length;
    let last = -1;
    for (let at = 0; at < this.#count; at += 1) {
      const line = sorted[at] as number;
      const bucket = toBucket(this.#orders[line] ?? 0);
      if (bucket !== last && last !== -1) {
        buckets.push({ bucket: last, body: bytes.subarray(start, end) });
        start = end;
      }
      last = bucket;
      const from = this.#starts[line] ?? 0;
      const to = this.#starts[line + 1] ?? 0;
      bytes.copyWithin(end, from, to);
      end += to - from;
    }
    if (last !== -1) buckets.push({ bucket: last, body: bytes.subarray(start, end) });
    return { whole: bytes.subarray(length, end), buckets };
  }

  /** Leaves the memory to others. Nobody may use the lines, or their texts, any more. */
  release(): void {
    giveBuffer(this.#text.bytes);
  }

  #note(order: number): void {
    if (this.#count === this.#orders.length) {
      this.#orders = enlarge(this.#orders);
      this.#starts = enlarge(this.#starts);
    }
    this.#orders[this.#count] = order;
    this.#sorted = undefined;
  }

  /** By numbers, which are sorted without a call for each two of them; only lines of one order are compared. */
  #sortLines(): Uint32Array {
    const orders = this.#orders;
    const count = this.#count;
    const ends = new Uint32Array(MOST_BUCKETS + 1);
    for (let line = 0; line < count; line += 1) {
      const next = toBucket(orders[line] as number) + 1;
      ends[next] = (ends[next] as number) + 1;
    }
    for (let bucket = 0; bucket < MOST_BUCKETS; bucket += 1)
      ends[bucket + 1] = (ends[bucket + 1] as number) + (ends[bucket] as number);
    const keys = new Float64Array(count);
    for (let line = 0; line < count; line += 1) {
      const order = orders[line] as number;
      const bucket = toBucket(order);
      const at = ends[bucket] as number;
      keys[at] = (order & (ORDERS_OF_BUCKET - 1)) * MOST_LINES + line;
      ends[bucket] = at + 1;
    }
    const sorted = new Uint32Array(count);
    for (let from = 0, bucket = 0; bucket < MOST_BUCKETS; bucket += 1) {
      const to = ends[bucket] as number;
      if (to > from) this.#sortBucket(keys.subarray(from, to).sort(), sorted.subarray(from, to));
      from = to;
    }
    return sorted;
  }

  #sortBucket(keys: Float64Array, sorted: Uint32Array): void {
    const orders = this.#orders;
    let start = 0;
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] as number;
      sorted[at] = key - Math.floor(key / MOST_LINES) * MOST_LINES; // a remainder is slow above 2^31
      if (orders[sorted[at] as number] === orders[sorted[start] as number]) continue;
      this.#sortEqual(sorted, start, at);
      start = at;
    }
    this.#sortEqual(sorted, start, sorted.length);
  }

  /** Mostly the few lines of one id. */
  #sortEqual(lines: Uint32Array, from: number, to: number): void {
    if (to - from > FEW_LINES) {
      lines.subarray(from, to).sort((a, b) => this.#compareRest(a, b));
      return;
    }
    for (let next = from + 1; next < to; next += 1) {
      const line = lines[next] ?? 0;
      let at = next;
      for (; at > from && this.#compareRest(lines[at - 1] ?? 0, line) > 0; at -= 1)
        lines[at] = lines[at - 1] ?? 0;
      lines[at] = line;
    }
  }

  /** In the order of UTF-16 units, in which all objects were written that are compared with new ones. */
  #compareRest(a: number, b: number): number {
    const { bytes } = this.#text;
    let atA = (this.#starts[a] ?? 0) + ORDER_DIGITS;
    let atB = (this.#starts[b] ?? 0) + ORDER_DIGITS;
    for (;;) {
      const one = bytes[atA] ?? LF;
      const other = bytes[atB] ?? LF;
      if (one !== other) return rank(one) - rank(other);
      if (one === LF) return 0;
      atA += 1;
      atB += 1;
    }
  }
}

function enlarge(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}

const JOINED_AT_ONCE = 500;
/** One in so many. */
const FEW_ALIKE = 4;
const FIRST_BYTES = 64 * 1024;
const FIRST_LINES = 1_000;
const LF = 0x0a;
const MOST_BUCKETS = 256;
/** More than one object can hold; with the bits of an order, what a double holds exactly. */
const MOST_LINES = 2 ** (53 - ORDER_BITS);
/** Compared one by one; of more, sorting is faster. */
const FEW_LINES = 10;

const toBucket = (order: number): number => order >>> ORDER_BITS;

/** What begins U+E000 to U+FFFF goes behind what begins the characters above, which UTF-16 writes as surrogates. */
const rank = (byte: number): number =>
  byte === LF ? -1 : byte === 0xee || byte === 0xef ? byte + 0x10 : byte;

/** The digits in front of a line as a number. */
export function readOrder(bytes: Buffer, start: number): number {
  let order = 0;
  for (let at = start; at < start + ORDER_DIGITS; at += 1) {
    const code = bytes[at] ?? 0;
    order = order * 16 + (code <= 0x39 ? code - 0x30 : code - 0x57);
  }
  return order;
}
