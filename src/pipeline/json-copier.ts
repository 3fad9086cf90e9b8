import {
  finish,
  lanes,
  mixBlock,
  mixFirst,
  mixSecond,
  SEED_TEXT,
  scramble,
  toSecondSeed,
} from '../lib/hash-text.ts';
import type { TextBuffer } from '../lib/text-buffer.ts';
import {
  HASH_FALSE,
  HASH_NULL,
  HASH_TRUE,
  hashMemberOf,
  hashNumber,
  mixFirstItem,
  mixSecondItem,
  SEED_ARRAY,
  SEED_OBJECT,
} from './event-hash.ts';

/**
 * Copies JSON that is written as JSON.stringify writes it (`isPlain` of a token) from one buffer into another, and
 * hashes the value in the same pass: `lanes` then holds what hashing the parsed value gives.
 */
export class JsonCopier {
  readonly #out: TextBuffer;
  #from: Uint8Array = new Uint8Array(0);
  #to: Uint8Array = new Uint8Array(0);
  /** The next byte to read, and where it goes. */
  #at = 0;
  #end = 0;

  constructor(out: TextBuffer) {
    this.#out = out;
  }

  copy(bytes: Uint8Array, start: number, end: number): void {
    const out = this.#out;
    out.reserve(end - start);
    this.#from = bytes;
    this.#to = out.bytes;
    this.#at = start;
    this.#end = out.end;
    this.#value();
    out.end = this.#end;
  }

  #value(): void {
    const first = this.#from[this.#at] as number;
    if (first === QUOTE) this.#string();
    else if (first === OPEN_BRACE) this.#object();
    else if (first === OPEN_BRACKET) this.#array();
    else if (first === LETTER_T) this.#word(4, HASH_TRUE);
    else if (first === LETTER_F) this.#word(5, HASH_FALSE);
    else if (first === LETTER_N) this.#word(4, HASH_NULL);
    else this.#number();
  }

  #object(): void {
    let a = 0;
    let b = 0;
    let members = 0;
    this.#byte();
    while (this.#from[this.#at] !== CLOSE_BRACE) {
      if (members > 0) this.#byte(); // the comma
      this.#string();
      const nameA = lanes[0] as number;
      const nameB = lanes[1] as number;
      this.#byte(); // the colon
      this.#value();
      hashMemberOf(nameA, nameB);
      a = (a + (lanes[0] as number)) | 0;
      b = (b + (lanes[1] as number)) | 0;
      members += 1;
    }
    this.#byte();
    finish(a ^ SEED_OBJECT, b, members);
  }

  #array(): void {
    const items = this.#countItems();
    let a = SEED_ARRAY;
    let b = items;
    this.#byte();
    for (let item = 0; item < items; item += 1) {
      if (item > 0) this.#byte(); // the comma
      this.#value();
      a = mixFirstItem(a);
      b = mixSecondItem(b);
    }
    this.#byte();
    finish(a, b, items);
  }

  /** The hash of a list begins with their number. */
  #countItems(): number {
    const from = this.#from;
    let at = this.#at + 1;
    if (from[at] === CLOSE_BRACKET) return 0;
    let items = 1;
    for (let depth = 1; depth > 0; at += 1) {
      const byte = from[at];
      if (byte === QUOTE) {
        at += 1;
        while (from[at] !== QUOTE) at += 1; // no escapes here
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
      else if (byte === COMMA && depth === 1) items += 1;
    }
    return items;
  }

  #string(): void {
    const from = this.#from;
    const to = this.#to;
    let at = this.#at + 1;
    let end = this.#end;
    let a = SEED_TEXT;
    let b = SECOND_SEED;
    const start = at;
    to[end] = QUOTE;
    end += 1;
    for (;;) {
      const first = from[at] as number;
      to[end] = first;
      end += 1;
      if (first === QUOTE) break;
      const second = from[at + 1] as number;
      to[end] = second;
      end += 1;
      if (second === QUOTE) {
        a ^= mixBlock(first);
        b ^= scramble(first);
        at += 1;
        break;
      }
      const block = first | (second << 16);
      a = mixFirst(a, block);
      b = mixSecond(b, block);
      at += 2;
    }
    finish(a, b, at - start);
    this.#at = at + 1;
    this.#end = end;
  }

  /** Of at most 15 digits: they and the power of ten are exact, so that dividing them rounds as parsing does. */
  #number(): void {
    const from = this.#from;
    const to = this.#to;
    const isNegative = from[this.#at] === MINUS;
    let digits = 0;
    let places = 0;
    let isFraction = 0;
    for (;;) {
      const byte = from[this.#at] as number;
      if (byte >= ZERO && byte <= NINE) {
        digits = digits * 10 + (byte - ZERO);
        places += isFraction;
      } else if (byte === POINT) isFraction = 1;
      else if (byte !== MINUS) break;
      to[this.#end] = byte;
      this.#end += 1;
      this.#at += 1;
    }
    const value = places === 0 ? digits : digits / (POWERS[places] as number);
    hashNumber(isNegative ? -value : value);
  }

  #word(length: number, hash: number): void {
    for (let more = 0; more < length; more += 1) this.#byte();
    finish(hash, 0, 0);
  }

  #byte(): void {
    this.#to[this.#end] = this.#from[this.#at] as number;
    this.#at += 1;
    this.#end += 1;
  }
}

const SECOND_SEED = toSecondSeed(SEED_TEXT);
const POWERS = Array.from({ length: 16 }, (_, places) => 10 ** places);

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_T = 0x74;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
