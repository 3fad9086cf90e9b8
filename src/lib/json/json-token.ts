import { parseJson } from './parse-json.ts';
import type { PropertyName } from './property-list.ts';

/** What a token is; 0 is nothing. */
export const NULL = 1;
export const TRUE = 2;
export const FALSE = 3;
export const NUMBER = 4;
export const STRING = 5;
export const ARRAY = 6;
export const OBJECT = 7;

/** Where tokens are. */
export interface ScannedText {
  bytes: Buffer;
}

/**
 * A value of a JSON text that was found and not parsed. Tokens are used again for the next record: who keeps a
 * value reads it.
 */
export class JsonToken {
  readonly text: ScannedText;
  kind = 0;
  start = 0;
  end = 0;
  /** Whether JSON.stringify would write the value as it is written here, so that it can be copied. */
  isPlain = false;
  /** Of a field of a record: whether this record has it. */
  isThere = false;
  /** Of an object that is a field of a record. */
  readonly members = new TokenMembers();
  #read: unknown;
  #readOf: Buffer | undefined;
  #readFrom = 0;
  #readTo = 0;

  constructor(text: ScannedText) {
    this.text = text;
  }

  /** Neither null nor an empty string: vendors write those where they know nothing. */
  get hasValue(): boolean {
    return this.kind !== NULL && !(this.kind === STRING && this.end - this.start === EMPTY_STRING);
  }

  /** In bytes of the text, with the quotes of a string. */
  get length(): number {
    return this.end - this.start;
  }

  /** The first byte of a string, or its quote where it is empty. */
  get firstByte(): number {
    return this.text.bytes[this.start + 1] as number;
  }

  /** The last one. */
  get lastByte(): number {
    return this.text.bytes[this.end - 2] as number;
  }

  /** The value as `parseJson` gives it. Keeps it, and the text that it is from. */
  read(): unknown {
    return this.kind === STRING || this.kind === NUMBER ? this.#readScalar() : this.parse();
  }

  /** The same, and keeps nothing. */
  parse(): unknown {
    switch (this.kind) {
      case STRING:
      case NUMBER:
        return this.#parseScalar();
      case NULL:
        return null;
      case TRUE:
        return true;
      case FALSE:
        return false;
      default:
        if (this.kind === OBJECT && this.end - this.start === EMPTY_OBJECT) return {};
        return parseJson(this.text.bytes.toString('utf8', this.start, this.end));
    }
  }

  /** Neighbouring records have many values in common: one that is written alike is not made again. */
  #readScalar(): unknown {
    const { bytes } = this.text;
    const { start, end } = this;
    let at = start;
    let known = this.#readFrom;
    if (bytes === this.#readOf && end - start === this.#readTo - known) {
      if (start === known) return this.#read;
      while (at < end && bytes[at] === bytes[known]) {
        at += 1;
        known += 1;
      }
      if (at === end) return this.#read;
    }
    this.#readOf = bytes;
    this.#readFrom = start;
    this.#readTo = end;
    this.#read = this.#parseScalar();
    return this.#read;
  }

  #parseScalar(): unknown {
    const { start, end } = this;
    const { bytes } = this.text;
    if (!this.isPlain) return parseJson(bytes.toString('utf8', start, end));
    if (this.kind === STRING) return bytes.toString('latin1', start + 1, end - 1);
    return readWhole(bytes, start, end) ?? Number(bytes.toString('latin1', start, end));
  }
}

/** The members of an object, in the order of the text; a name may come twice. */
class TokenMembers {
  count = 0;
  readonly names: PropertyName[] = [];
  readonly values: JsonToken[] = [];

  /** The value of a name; of several the last one. */
  find(name: PropertyName): JsonToken | undefined {
    for (let at = this.count - 1; at >= 0; at -= 1) if (this.names[at] === name) return this.values[at];
    return undefined;
  }
}

/** A number of at most 15 digits and nothing else. */
function readWhole(bytes: Buffer, start: number, end: number): number | undefined {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] as number) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

const ZERO = 0x30;
const EMPTY_STRING = 2;
const EMPTY_OBJECT = 2;
