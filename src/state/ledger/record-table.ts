import type { Pace } from '../../lib/async/pace.ts';
import { HashWords } from './keyed-hash.ts';

const FEWEST_SLOTS = 64;
/** Between two looks at the clock. */
const SLOTS_AT_ONCE = 256;

/**
 * Records of one width, found by the hash at their start: millions of them in one buffer, without an object
 * each. An offset that was returned holds until the next record is made, or `reserve`.
 */
export class RecordTable {
  readonly width: number;
  #slots: Buffer;
  #view: DataView;
  /** Of each slot: 0, or a mark and some bits of the hash, so that other hashes need not be looked at. */
  #used: Uint8Array;
  #size = 0;
  /** What is looked for, and what is moved meanwhile. */
  readonly #words = new HashWords();
  readonly #moved = new HashWords();
  /** Set by whoever writes to `bytes`: an unchanged table need not be saved. */
  changed = false;

  constructor(width: number) {
    this.width = width;
    this.#slots = Buffer.alloc(FEWEST_SLOTS * width);
    this.#view = toView(this.#slots);
    this.#used = new Uint8Array(FEWEST_SLOTS);
  }

  get size(): number {
    return this.#size;
  }

  /** All slots; a record is `width` bytes from its offset. */
  get bytes(): Buffer {
    return this.#slots;
  }

  /** The same. */
  get view(): DataView {
    return this.#view;
  }

  /** The offset of a record in `bytes`, or -1. */
  find(hash: Uint8Array): number {
    return Math.max(-1, this.seek(this.#words.read(hash, 0)));
  }

  /** The offset of the record with this hash; a new one is zero behind it. */
  insert(hash: Uint8Array): number {
    const words = this.#words.read(hash, 0);
    return this.put(words, this.seek(words));
  }

  /** The offset of a record; a negative number, for `put`, where there is none. */
  seek(words: HashWords): number {
    const used = this.#used;
    const mask = used.length - 1;
    const mark = toMark(words);
    // The bytes behind the bucket.
    let slot = ((words.a << 8) | (words.b >>> 24)) & mask;
    for (let found = used[slot]; found !== 0; found = used[slot]) {
      const offset = slot * this.width;
      if (found === mark && this.#isAt(offset, words)) return offset;
      slot = (slot + 1) & mask;
    }
    return -1 - slot * this.width;
  }

  /** As `insert`. `found`: what `seek` returned. */
  put(words: HashWords, found: number): number {
    let at = found;
    if ((this.#size + 1) * 4 > this.#used.length * 3) {
      this.#grow(this.#used.length * 2);
      at = this.seek(words);
    }
    if (at >= 0) return at;
    const offset = -1 - at;
    this.#used[offset / this.width] = toMark(words);
    this.#size += 1;
    const view = this.#view;
    view.setInt32(offset, words.a);
    view.setInt32(offset + 4, words.b);
    view.setInt32(offset + 8, words.c);
    return offset;
  }

  /** Makes room for so many more records, without blocking the event loop as `insert` would. */
  async reserve(more: number, pace: Pace): Promise<void> {
    let slots = this.#used.length;
    while ((this.#size + more) * 4 > slots * 3) slots *= 2;
    if (slots === this.#used.length) return;
    const before = { slots: this.#slots, used: this.#used };
    this.#replace(slots);
    for (let slot = 0; slot < before.used.length; slot += SLOTS_AT_ONCE) {
      this.#putUsed(before, slot);
      if (pace.isDue()) await pace.rest();
    }
  }

  /** The records, in no particular order. */
  async encode(pace: Pace): Promise<Buffer> {
    const body = Buffer.allocUnsafe(this.#size * this.width);
    let at = 0;
    for (let slot = 0; slot < this.#used.length; slot += SLOTS_AT_ONCE) {
      at = this.#copyUsed(slot, body, at);
      if (pace.isDue()) await pace.rest();
    }
    return body;
  }

  /** What `encode` made. */
  static async decode(width: number, body: Buffer, pace: Pace): Promise<RecordTable> {
    const table = new RecordTable(width);
    await table.reserve(body.length / width, pace);
    const atOnce = SLOTS_AT_ONCE * width;
    for (let offset = 0; offset < body.length; offset += atOnce) {
      for (let at = offset; at < body.length && at < offset + atOnce; at += width) table.#put(body, at);
      if (pace.isDue()) await pace.rest();
    }
    table.#size = body.length / width;
    return table;
  }

  #isAt(offset: number, { a, b, c }: HashWords): boolean {
    const view = this.#view;
    return view.getInt32(offset + 8) === c && view.getInt32(offset + 4) === b && view.getInt32(offset) === a;
  }

  /** Some slots of a smaller table, from one on. A loop of its own: V8 would compile one that awaits again and again. */
  #putUsed({ slots, used }: { readonly slots: Buffer; readonly used: Uint8Array }, from: number): void {
    const to = Math.min(used.length, from + SLOTS_AT_ONCE);
    for (let slot = from; slot < to; slot += 1) if (used[slot] !== 0) this.#put(slots, slot * this.width);
  }

  /** The records of some slots. Returns where the next one goes. */
  #copyUsed(from: number, body: Buffer, start: number): number {
    const { width } = this;
    const used = this.#used;
    const slots = this.#slots;
    const to = Math.min(used.length, from + SLOTS_AT_ONCE);
    let at = start;
    for (let slot = from; slot < to; slot += 1) {
      if (used[slot] === 0) continue;
      copyBytes(slots, slot * width, body, at, width);
      at += width;
    }
    return at;
  }

  #put(source: Buffer, offset: number): void {
    const words = this.#moved.read(source, offset);
    const found = this.seek(words);
    const at = found < 0 ? -1 - found : found;
    this.#used[at / this.width] = toMark(words);
    copyBytes(source, offset, this.#slots, at, this.width);
  }

  #replace(slots: number): void {
    this.#slots = Buffer.alloc(slots * this.width);
    this.#view = toView(this.#slots);
    this.#used = new Uint8Array(slots);
  }

  #grow(slots: number): void {
    const before = { slots: this.#slots, used: this.#used };
    this.#replace(slots);
    for (let slot = 0; slot < before.used.length; slot += SLOTS_AT_ONCE) this.#putUsed(before, slot);
  }
}

/** Of so few bytes, without the view that `Buffer.copy` makes for each call. */
function copyBytes(from: Uint8Array, start: number, to: Uint8Array, at: number, count: number): void {
  for (let index = 0; index < count; index += 1) to[at + index] = from[start + index] as number;
}

const toView = ({ buffer, byteOffset, byteLength }: Buffer) => new DataView(buffer, byteOffset, byteLength);

const toMark = ({ c }: HashWords): number => 0x80 | (c & 0x7f);
