import type { JsonToken } from './json-token.ts';
import type { PropertyName } from './property-list.ts';

/** Levels of objects and lists that are scanned; deeper ones are seldom. */
export const DEEPEST = 8;

const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Bytes that are in a JSON string what they are in the text. */
export const IS_PLAIN = new Uint8Array(256);
IS_PLAIN.fill(1, BLANK, 0x80);
IS_PLAIN[QUOTE] = 0;
IS_PLAIN[BACKSLASH] = 0;

/** A name, with what is expected around it. */
export class Key {
  readonly name: PropertyName;
  /** Of `"name":` */
  readonly length: number;
  /**
   * The same as numbers of four bytes each, of which the last two may overlap. None: it is shorter than one, or has
   * escapes, which are looked at wherever they are.
   */
  readonly words: readonly number[];
  /** Of a record's own fields: where its value is noted. */
  readonly field: JsonToken | undefined;
  /** The name that followed it last. */
  next: Key | undefined;
  /** The first name of the object that was its value last. */
  first: Key | undefined;
  /** The object of each depth that had it last, as a number. */
  readonly seenIn: number[] = new Array<number>(DEEPEST).fill(0);
  /** Whether an object with it cannot be copied: it has escapes or wide characters, or JSON.parse moves it. */
  readonly isOdd: boolean;

  constructor(name: PropertyName, field: JsonToken | undefined) {
    this.name = name;
    const label = name.bytes.subarray(1); // behind the comma
    this.length = label.length;
    this.words = label.includes(BACKSLASH) ? [] : toWords(label);
    this.field = field;
    this.isOdd = name.isNumber || !name.bytes.subarray(2, -2).every((byte) => IS_PLAIN[byte] === 1);
  }
}

/** Bytes of a word. */
export const WORD = 4;

function toWords(label: Uint8Array): number[] {
  const text = new DataView(label.buffer, label.byteOffset, label.length);
  const words: number[] = [];
  for (let at = 0; at < label.length && label.length >= WORD; at += WORD) {
    words.push(text.getInt32(Math.min(at, label.length - WORD), true));
  }
  return words;
}
