import type { Pace } from '../../lib/async/pace.ts';
import { ORDER_BITS } from '../bucket.ts';
import { ORDER_DIGITS } from './fact-line.ts';

/**
 * Lines by bucket: see renderFact. They are kept as bytes, since as text each would outlive several collections of the
 * young generation, and copying what lives on costs more than making it.
 */
export class BucketLines {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #end = 0;
  /** Of each line, and of what would follow the last one. */
  readonly #starts: number[] = [0];
  /** The digits that all lines begin with, as a number: see ORDER_DIGITS. */
  readonly #orders: number[] = [];

  add(line: string): void {
    const start = this.#end;
    this.#reserve(start + line.length * BYTES_OF_UNIT + 1);
    const end = start + this.#bytes.write(line, start, 'utf8');
    this.#bytes[end] = LF;
    this.#end = end + 1;
    this.#starts.push(this.#end);
    this.#orders.push(readOrder(this.#bytes, start));
  }

  /** Of all lines, with their ends. */
  get bytes(): number {
    return this.#end;
  }

  /**
   * The same with fewer lines for all that begin with the same `digits`, which are more than those of the order: `join`
   * makes them of some at a time.
   */
  async join(
    digits: number,
    join: (lines: readonly string[]) => readonly string[],
    pace: Pace,
  ): Promise<BucketLines> {
    const joined = new BucketLines();
    for (const lines of this.#groupLines()) {
      if (!lines) continue;
      const sorted = this.#sortLines(lines);
      for (let from = 0; from < sorted.length; ) {
        let to = from + 1;
        while (to < sorted.length && this.#beginAlike(sorted[from] ?? 0, sorted[to] ?? 0, digits)) to += 1;
        if (to === from + 1) joined.#copy(this, sorted[from] ?? 0);
        else for (const line of await this.#joinRow(sorted.subarray(from, to), join, pace)) joined.add(line);
        if (pace.isDue()) await pace.rest();
        from = to;
      }
    }
    return joined;
  }

  async #joinRow(
    row: Uint32Array,
    join: (lines: readonly string[]) => readonly string[],
    pace: Pace,
  ): Promise<readonly string[]> {
    let joined: readonly string[] = [];
    for (let from = 0; from < row.length; from += JOINED_AT_ONCE) {
      const some = Array.from(row.subarray(from, from + JOINED_AT_ONCE), (line) => this.#read(line));
      joined = join([...joined, ...some]);
      if (pace.isDue()) await pace.rest();
    }
    return joined;
  }

  #read(line: number): string {
    return this.#bytes.toString('utf8', this.#starts[line], (this.#starts[line + 1] ?? 0) - 1);
  }

  #copy(from: BucketLines, line: number): void {
    const start = from.#starts[line] ?? 0;
    const stop = from.#starts[line + 1] ?? 0;
    this.#reserve(this.#end + stop - start);
    this.#end += from.#bytes.copy(this.#bytes, this.#end, start, stop);
    this.#starts.push(this.#end);
    this.#orders.push(from.#orders[line] ?? 0);
  }

  #beginAlike(a: number, b: number, digits: number): boolean {
    if (this.#orders[a] !== this.#orders[b]) return false;
    const atA = this.#starts[a] ?? 0;
    const atB = this.#starts[b] ?? 0;
    for (let at = ORDER_DIGITS; at < digits; at += 1)
      if (this.#bytes[atA + at] !== this.#bytes[atB + at]) return false;
    return true;
  }

  /** Buckets with lines, in ascending order; lines are sorted, so that equal facts make equal objects. */
  *texts(): Generator<{ readonly bucket: number; readonly body: Buffer }> {
    const sorted = Buffer.allocUnsafe(this.#end);
    let start = 0;
    for (const [bucket, lines] of this.#groupLines().entries()) {
      if (!lines) continue;
      let end = start;
      for (const line of this.#sortLines(lines))
        end += this.#bytes.copy(sorted, end, this.#starts[line], this.#starts[line + 1]);
      yield { bucket, body: sorted.subarray(start, end) };
      start = end;
    }
  }

  #groupLines(): number[][] {
    const byBucket: number[][] = [];
    for (const [line, order] of this.#orders.entries()) {
      const bucket = Math.floor(order / ORDERS_OF_BUCKET);
      const known = byBucket[bucket];
      if (known) known.push(line);
      else byBucket[bucket] = [line];
    }
    return byBucket;
  }

  /** By numbers, which are sorted without a call for each two of them; only lines of one order are compared. */
  #sortLines(lines: readonly number[]): Uint32Array {
    const keys = new Float64Array(lines.length);
    for (const [at, line] of lines.entries())
      keys[at] = ((this.#orders[line] ?? 0) % ORDERS_OF_BUCKET) * MOST_LINES + line;
    keys.sort();
    const sorted = new Uint32Array(lines.length);
    let start = 0;
    for (const [at, key] of keys.entries()) {
      sorted[at] = key % MOST_LINES;
      if (this.#orders[sorted[at] ?? 0] === this.#orders[sorted[start] ?? 0]) continue;
      this.#sortEqual(sorted, start, at);
      start = at;
    }
    this.#sortEqual(sorted, start, sorted.length);
    return sorted;
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
    const bytes = this.#bytes;
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

  #reserve(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

const JOINED_AT_ONCE = 500;
const FIRST_BYTES = 16 * 1024;
/** A UTF-16 unit takes at most so many in UTF-8. */
const BYTES_OF_UNIT = 3;
const LF = 0x0a;
const ORDERS_OF_BUCKET = 2 ** ORDER_BITS;
/** More than one object can hold; with the bits of an order, what a double holds exactly. */
const MOST_LINES = 2 ** (53 - ORDER_BITS);
/** Compared one by one; of more, sorting is faster. */
const FEW_LINES = 10;

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
