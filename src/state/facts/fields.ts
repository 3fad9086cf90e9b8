import { readString } from './snapshots.ts';

const TAB = 0x09;
const MOST_DIGITS = 9;
const NO_NUMBERS: readonly number[] = [];
let lastNumbersText = '';
let lastNumbers = NO_NUMBERS;

/** Reads a line from field to field; throws where there is none. */
export class Fields {
  readonly #line: string;
  #at: number;

  /** @param start Of the first field. */
  constructor(line: string, start: number) {
    this.#line = line;
    this.#at = start;
    if (line[start - 1] !== '\t') throw new Error('no line of fields');
  }

  get isAtEnd(): boolean {
    return this.#at > this.#line.length;
  }

  next(): string {
    const start = this.#at;
    const end = this.#line.indexOf('\t', start);
    const stop = end === -1 ? this.#line.length : end;
    if (start > stop) throw new Error('a field is missing');
    this.#at = stop + 1;
    return this.#line.slice(start, stop);
  }

  /** The value of a JSON string. */
  string(): string {
    const text = this.next();
    if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) throw new Error('no string');
    return readString(text, 0, text.length);
  }

  /** One digit or more. */
  count(): number {
    const start = this.#at;
    const number = this.#digits(start);
    if (this.#at > start + MOST_DIGITS + 1) throw new Error('no number');
    return number;
  }

  /** A list of whole numbers, separated by commas. Most lines have that of the line before: it is one list. */
  numbers(): readonly number[] {
    const text = this.next();
    if (text === '') return NO_NUMBERS;
    if (text === lastNumbersText) return lastNumbers;
    if (!/^\d+(?:,\d+)*$/.test(text)) throw new Error('no numbers');
    lastNumbers = text.split(',').map(Number);
    lastNumbersText = text;
    return lastNumbers;
  }

  rest(): string {
    const text = this.#line.slice(this.#at);
    if (text === '') throw new Error('a field is missing');
    return text;
  }

  /** Looked at once they are folded; that they begin as such is checked here. */
  properties(): string {
    const start = this.#at;
    this.#digits(start);
    return this.#line.slice(start);
  }

  /** A field that is a number, whatever its length. */
  #digits(start: number): number {
    const line = this.#line;
    let number = 0;
    let at = start;
    for (; at < line.length && line.charCodeAt(at) !== TAB; at += 1) {
      const digit = line.charCodeAt(at) - 0x30;
      if (digit < 0 || digit > 9) throw new Error('no number');
      number = 10 * number + digit;
    }
    if (at === start) throw new Error('no number');
    this.#at = at + 1;
    return number;
  }
}
