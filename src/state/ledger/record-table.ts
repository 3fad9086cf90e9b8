import type { Pace } from '../../lib/async/pace.ts';
import { HASH_BYTES } from './keyed-hash.ts';

const FEWEST_SLOTS = 64;
/** Between two looks at the clock. */
const SLOTS_AT_ONCE = 256;

/**
 * Records of one width, found by the hash at their start: millions of them in one buffer, without an object
 * each. An offset that `find` or `insert` returned holds until the next `insert` or `reserve`.
 */
export class RecordTable {
  readonly width: number;
  #slots: Buffer;
  #used: Uint8Array;
  #size = 0;
  /** Set by whoever writes to `bytes`: an unchanged table need not be saved. */
  changed = false;

  constructor(width: number) {
    this.width = width;
    this.#slots = Buffer.alloc(FEWEST_SLOTS * width);
    this.#used = new Uint8Array(FEWEST_SLOTS);
  }

  get size(): number {
    return this.#size;
  }

  /** All slots; a record is `width` bytes from its offset. */
  get bytes(): Buffer {
    return this.#slots;
  }

  /** The offset of a record in `bytes`, or -1. */
  find(key: Uint8Array): number {
    const slot = this.#seek(key, 0);
    return this.#used[slot] === 1 ? slot * this.width : -1;
  }

  /** The offset of the record with this key; a new one is zero behind its key. */
  insert(key: Uint8Array): number {
    if ((this.#size + 1) * 4 > this.#used.length * 3) this.#grow(this.#used.length * 2);
    const slot = this.#seek(key, 0);
    if (this.#used[slot] !== 1) {
      this.#used[slot] = 1;
      this.#size += 1;
      const at = slot * this.width;
      for (let index = 0; index < HASH_BYTES; index += 1) this.#slots[at + index] = key[index] as number;
    }
    return slot * this.width;
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

  #seek(source: Uint8Array, offset: number): number {
    const used = this.#used;
    const slots = this.#slots;
    const mask = used.length - 1;
    let slot = readUint32(source, offset + 1) & mask;
    while (used[slot] === 1 && !isSameHash(slots, slot * this.width, source, offset))
      slot = (slot + 1) & mask;
    return slot;
  }

  /** Some slots of a smaller table, from one on. A loop of its own: V8 would compile one that awaits again and again. */
  #putUsed({ slots, used }: { readonly slots: Buffer; readonly used: Uint8Array }, from: number): void {
    const to = Math.min(used.length, from + SLOTS_AT_ONCE);
    for (let slot = from; slot < to; slot += 1) if (used[slot] === 1) this.#put(slots, slot * this.width);
  }

  /** The records of some slots. Returns where the next one goes. */
  #copyUsed(from: number, body: Buffer, start: number): number {
    const { width } = this;
    const used = this.#used;
    const slots = this.#slots;
    const to = Math.min(used.length, from + SLOTS_AT_ONCE);
    let at = start;
    for (let slot = from; slot < to; slot += 1) {
      if (used[slot] !== 1) continue;
      copyBytes(slots, slot * width, body, at, width);
      at += width;
    }
    return at;
  }

  #put(source: Buffer, offset: number): void {
    const slot = this.#seek(source, offset);
    this.#used[slot] = 1;
    copyBytes(source, offset, this.#slots, slot * this.width, this.width);
  }

  #replace(slots: number): void {
    this.#slots = Buffer.alloc(slots * this.width);
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

/** As `Buffer.readUInt32BE`, which checks its arguments and costs more than the rest of the search. */
const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) << 24) |
  ((bytes[at + 1] as number) << 16) |
  ((bytes[at + 2] as number) << 8) |
  (bytes[at + 3] as number);

function isSameHash(a: Uint8Array, atA: number, b: Uint8Array, atB: number): boolean {
  for (let index = HASH_BYTES - 1; index >= 0; index -= 1)
    if (a[atA + index] !== b[atB + index]) return false;
  return true;
}
