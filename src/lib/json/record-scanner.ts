import { isUtf8 } from 'node:buffer';
import { MIN_UNSAFE_LENGTH } from './exact-number.ts';
import { ARRAY, FALSE, JsonToken, NULL, NUMBER, OBJECT, STRING, TRUE } from './json-token.ts';
import { getName, limitNames, type PropertyName } from './property-list.ts';
import { DEEPEST, IS_PLAIN, Key, WORD } from './record-key.ts';
import { createView, type RecordView, ScannedRecord } from './record-view.ts';

/**
 * Finds the fields of a record in its text, in one pass over its bytes, without making values of them: most are
 * only copied into an event. What it is not sure of (exponents, deep nesting, whatever is not JSON) it leaves to the
 * exact parser, so that it never takes what JSON.parse would not.
 */
export class RecordScanner {
  readonly #record: ScannedRecord;
  readonly #view: RecordView;
  #keys = new Map<string, Key>();
  /** In front of the first name of a record. */
  #top = new Key(getName(''), undefined);
  /** Of fields that nobody reads. */
  readonly #unread: JsonToken;
  #bytes: Buffer = Buffer.alloc(0);
  /** The same bytes, to be read four at once. */
  #words: DataView = new DataView(new ArrayBuffer(0));
  /** The next byte. */
  #at = 0;
  /**
   * How often the text was not as JSON.stringify would write it: a value is plain where the count is the same in
   * front of it and behind it.
   */
  #oddities = 0;
  #hasWide = false;
  #hasCodes = false;
  #hasOtherSpelling = false;
  #containers = 0;
  #names = 0;

  /** @param fields Those that are read of the view. */
  constructor(fields: ReadonlySet<string>) {
    this.#record = new ScannedRecord(fields);
    this.#view = createView(this.#record);
    this.#unread = new JsonToken(this.#record);
  }

  /**
   * A view of the record from `start` up to `end`, good until the next one. Undefined: it is for the exact parser.
   * Where bytes follow, the first is one that no string contains, such as a line feed.
   */
  scan(bytes: Buffer, start: number, end: number): RecordView | undefined {
    if (this.scanNext(bytes, start) === undefined) return undefined;
    while (this.#at < end && isBlank(bytes[this.#at])) this.#at += 1;
    if (this.#at !== end) return undefined;
    this.#record.end = end;
    return this.#hasWide && !isUtf8(bytes.subarray(start, end)) ? undefined : this.#view;
  }

  /** The end of the record from `start`, in bytes that are UTF-8. Undefined: it is for the exact parser. */
  scanNext(bytes: Buffer, start: number): number | undefined {
    if (bytes[start] !== OPEN_BRACE) return undefined;
    this.#limitKeys();
    if (this.#bytes !== bytes) {
      this.#bytes = bytes;
      this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    }
    this.#at = start;
    this.#oddities = 0;
    this.#hasWide = false;
    this.#hasCodes = false;
    this.#hasOtherSpelling = false;
    this.#containers += 1;
    this.#record.begin(bytes, start);
    if (!this.#scanFields()) return undefined;
    this.#record.end = this.#at;
    return this.#at;
  }

  /** Where a field of the last record is; one of those that are read. */
  getField(name: string): JsonToken {
    const field = this.#record.findField(name);
    if (field === undefined) throw new Error(`${name} is none of the fields that are read`);
    return field;
  }

  /** Whether the last record has an escape by its code, such as `\u0000`. */
  get hasCodes(): boolean {
    return this.#hasCodes;
  }

  /** Whether it has a number that ends in a zero behind its point, which JavaScript leaves out. */
  get hasOtherSpelling(): boolean {
    return this.#hasOtherSpelling;
  }

  /** Objects and lists of all records so far. */
  get containers(): number {
    return this.#containers;
  }

  /** Forgets the text of the last record. */
  forget(): void {
    this.#bytes = Buffer.alloc(0);
    this.#words = new DataView(new ArrayBuffer(0));
    this.#record.begin(this.#bytes, 0);
  }

  #scanFields(): boolean {
    let key = this.#top;
    this.#at += 1;
    if (this.#isEnd(CLOSE_BRACE)) return true;
    for (let isFirst = true; ; isFirst = false) {
      const found = this.#scanKey(key, isFirst);
      if (!found) return false;
      key = found;
      const { field } = key;
      if (!this.#scanToken(field ?? this.#unread, key, 1, field !== undefined)) return false;
      if (field) field.isThere = true;
      const next = this.#next();
      if (next === CLOSE_BRACE) return true;
      if (next !== COMMA) return false;
    }
  }

  #scanToken(token: JsonToken, key: Key, depth: number, withMembers: boolean): boolean {
    if ((this.#bytes[this.#at] as number) <= BLANK) this.#skipBlanks();
    const before = this.#oddities;
    token.start = this.#at;
    token.members.count = 0;
    token.kind = this.#scanValue(key, depth, withMembers ? token.members : undefined);
    token.end = this.#at;
    token.isPlain = this.#oddities === before;
    return token.kind !== 0;
  }

  /** The kind of the value, 0 where there is none. */
  #scanValue(key: Key, depth: number, members: JsonToken['members'] | undefined): number {
    const first = this.#bytes[this.#at] as number;
    if (first === QUOTE) return this.#scanString() ? STRING : 0;
    if (first === OPEN_BRACE) return this.#scanObject(key, depth, members) ? OBJECT : 0;
    if (first === OPEN_BRACKET) return this.#scanArray(key, depth) ? ARRAY : 0;
    if (first === WORD_NULL[0]) return this.#scanWord(WORD_NULL) ? NULL : 0;
    if (first === WORD_TRUE[0]) return this.#scanWord(WORD_TRUE) ? TRUE : 0;
    if (first === WORD_FALSE[0]) return this.#scanWord(WORD_FALSE) ? FALSE : 0;
    return this.#scanNumber() ? NUMBER : 0;
  }

  /** `members`: gets those of the object. */
  #scanObject(of: Key, depth: number, members: JsonToken['members'] | undefined): boolean {
    if (depth === DEEPEST) return false;
    this.#containers += 1;
    const object = this.#containers;
    this.#at += 1;
    if (this.#isEnd(CLOSE_BRACE)) return true;
    let key = of;
    for (let isFirst = true; ; isFirst = false) {
      const found = this.#scanKey(key, isFirst);
      if (!found) return false;
      key = found;
      // JSON.parse moves whole numbers to the front, and keeps the last of equal names.
      if (key.seenIn[depth] === object || key.isOdd) this.#oddities += 1;
      key.seenIn[depth] = object;
      if (members) {
        if (members.count === MOST_MEMBERS) return false;
        if (!this.#scanToken(this.#addMember(members, key.name), key, depth + 1, false)) return false;
      } else {
        if ((this.#bytes[this.#at] as number) <= BLANK) this.#skipBlanks();
        if (this.#scanValue(key, depth + 1, undefined) === 0) return false;
      }
      const next = this.#next();
      if (next === CLOSE_BRACE) return true;
      if (next !== COMMA) return false;
    }
  }

  #addMember(members: JsonToken['members'], name: PropertyName): JsonToken {
    const at = members.count;
    members.count = at + 1;
    members.names[at] = name;
    let token = members.values[at];
    if (!token) {
      token = new JsonToken(this.#record);
      members.values[at] = token;
    }
    return token;
  }

  #scanArray(key: Key, depth: number): boolean {
    if (depth === DEEPEST) return false;
    this.#containers += 1;
    this.#at += 1;
    if (this.#isEnd(CLOSE_BRACKET)) return true;
    for (;;) {
      if ((this.#bytes[this.#at] as number) <= BLANK) this.#skipBlanks();
      if (this.#scanValue(key, depth + 1, undefined) === 0) return false;
      const next = this.#next();
      if (next === CLOSE_BRACKET) return true;
      if (next !== COMMA) return false;
    }
  }

  /** Ends behind the colon. Most records have the same names in the same order. */
  #scanKey(before: Key, isFirst: boolean): Key | undefined {
    const likely = isFirst ? before.first : before.next;
    if (likely && this.#startsWith(likely)) {
      this.#at += likely.length;
      return likely;
    }
    const key = this.#findKey();
    if (key) {
      if (isFirst) before.first = key;
      else before.next = key;
    }
    return key;
  }

  #startsWith({ words, length }: Key): boolean {
    const text = this.#words;
    const start = this.#at;
    const last = words.length - 1;
    if (last < 0 || start + length > text.byteLength) return false;
    for (let index = 0; index < last; index += 1) {
      if (text.getInt32(start + index * WORD, true) !== words[index]) return false;
    }
    return text.getInt32(start + length - WORD, true) === words[last];
  }

  #findKey(): Key | undefined {
    const bytes = this.#bytes;
    if ((bytes[this.#at] as number) <= BLANK) this.#skipBlanks();
    const start = this.#at;
    const before = this.#oddities;
    if (bytes[start] !== QUOTE || !this.#scanString()) return undefined;
    const text =
      this.#oddities === before
        ? bytes.toString('latin1', start + 1, this.#at - 1)
        : String(JSON.parse(bytes.toString('utf8', start, this.#at)));
    if (this.#next() !== COLON || text.length > LONGEST_NAME) return undefined;
    let key = this.#keys.get(text);
    if (!key) {
      if (this.#keys.size === MOST_KEYS) return undefined;
      key = new Key(getName(text), this.#record.findField(text));
      this.#keys.set(text, key);
    }
    return key;
  }

  #scanString(): boolean {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    while (IS_PLAIN[bytes[at] as number] === 1) at += 1;
    this.#at = at + 1;
    return bytes[at] === QUOTE || this.#scanOddString(at);
  }

  /** With escapes, or with characters of several bytes. */
  #scanOddString(from: number): boolean {
    const bytes = this.#bytes;
    this.#oddities += 1;
    let at = from;
    for (;;) {
      const byte = bytes[at];
      if (byte === QUOTE) break;
      if (byte === undefined || byte < BLANK) return false;
      if (byte === BACKSLASH) {
        at += 1;
        if (bytes[at] === LETTER_U) {
          this.#hasCodes = true;
          for (const end = at + 4; at < end; ) {
            at += 1;
            if (!isHexDigit(bytes[at])) return false;
          }
        } else if (!ESCAPED.has(bytes[at] as number)) return false;
      } else if (byte >= 0x80) this.#hasWide = true;
      at += 1;
    }
    this.#at = at + 1;
    return true;
  }

  /** Without an exponent. Those that a double may not hold, or JavaScript would write in another way, are odd. */
  #scanNumber(): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    if (bytes[at] === MINUS) at += 1;
    const whole = at;
    while (isDigit(bytes[at])) at += 1;
    if (at === whole || (bytes[whole] === ZERO && at - whole > 1)) return false;
    if (bytes[at] === POINT) {
      at += 1;
      const fraction = at;
      while (isDigit(bytes[at])) at += 1;
      if (at === fraction) return false;
      // 0.0000001 is 1e-7 to JavaScript.
      if (bytes[at - 1] === ZERO) this.#hasOtherSpelling = true;
      if (bytes[at - 1] === ZERO || (bytes[whole] === ZERO && bytes[fraction] === ZERO)) this.#oddities += 1;
    } else if (bytes[whole] === ZERO && whole > start) this.#oddities += 1;
    this.#at = at;
    const byte = bytes[at] as number;
    if (at - start >= MIN_UNSAFE_LENGTH) this.#oddities += 1;
    return byte !== LOWER_E && byte !== UPPER_E;
  }

  #scanWord(word: Uint8Array): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    for (let at = 1; at < word.length; at += 1) if (bytes[start + at] !== word[at]) return false;
    this.#at = start + word.length;
    return true;
  }

  /** What is behind a value or a name. */
  #next(): number {
    let byte = this.#bytes[this.#at] as number;
    if (byte <= BLANK) {
      this.#skipBlanks();
      byte = this.#bytes[this.#at] as number;
    }
    this.#at += 1;
    return byte;
  }

  #isEnd(bracket: number): boolean {
    if ((this.#bytes[this.#at] as number) <= BLANK) this.#skipBlanks();
    if (this.#bytes[this.#at] !== bracket) return false;
    this.#at += 1;
    return true;
  }

  #skipBlanks(): void {
    while (isBlank(this.#bytes[this.#at])) this.#at += 1;
    this.#oddities += 1;
  }

  /** Ids that are used as names may be any number. */
  #limitKeys(): void {
    const names = limitNames();
    if (names === this.#names && this.#keys.size <= KEYS_KNOWN) return;
    this.#names = names;
    this.#keys = new Map();
    this.#top = new Key(getName(''), undefined);
  }
}

/** Names that are kept from one record to the next. */
const KEYS_KNOWN = 4_096;
/** With those of a record whose ids, say, are names. */
const MOST_KEYS = 2 * KEYS_KNOWN;
/** Characters of a name that this takes; longer ones are seldom, and names are kept. */
const LONGEST_NAME = 250;
/** Members of a field that are noted: what notes them stays. */
const MOST_MEMBERS = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const BLANK = 0x20;
const LETTER_U = 0x75;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
const WORD_NULL = Buffer.from('null');
const WORD_TRUE = Buffer.from('true');
const WORD_FALSE = Buffer.from('false');
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= 0x39;
const isHexDigit = (byte: number | undefined): boolean =>
  isDigit(byte) || (byte !== undefined && ((byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)));
const isBlank = (byte: number | undefined): boolean =>
  byte === BLANK || byte === 0x0a || byte === 0x0d || byte === 0x09;
