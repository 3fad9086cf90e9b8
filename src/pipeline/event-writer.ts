import type { EventProperties, MappedEvent } from '../contract/event.ts';
import { type Stamp, toOwnName } from '../deliver/stamp.ts';
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
import { isExactNumber } from '../lib/json/exact-number.ts';
import { JsonToken } from '../lib/json/json-token.ts';
import { getName, PropertyList, type PropertyName, pinName } from '../lib/json/property-list.ts';
import type { TextBuffer } from '../lib/text-buffer.ts';
import {
  HASH_FALSE,
  HASH_NULL,
  HASH_TRUE,
  hashDigits,
  hashKey,
  hashMember,
  hashNumber,
  KEY_WORDS,
  mixFirstItem,
  mixSecondItem,
  SEED_ARRAY,
  SEED_OBJECT,
} from './event-hash.ts';
import { JsonCopier } from './json-copier.ts';

/** 32-bit words of a fingerprint: of the key and, behind it, of the content. */
export const HASH_WORDS = KEY_WORDS + 2;

/**
 * Writes events as JSON, byte for byte as `stringifyJson` does, and hashes them in the same pass, so that each
 * string is looked at once. The content of a record is all of its events, and of several also the key; the stamp
 * of the migration is written behind their properties and not hashed.
 */
export class EventWriter {
  /** Key and content of the record that was written last. */
  readonly words = new Int32Array(HASH_WORDS);
  /** Keys and contents of its events one by one, where they are several; valid until the next record. */
  several = new Int32Array(0);
  readonly #out: TextBuffer;
  readonly #copier: JsonCopier;

  readonly #stamp: { readonly names: readonly PropertyName[]; readonly bytes: Uint8Array } | undefined;

  constructor(out: TextBuffer, stamp?: Stamp) {
    this.#out = out;
    this.#copier = new JsonCopier(out);
    this.#stamp = stamp && {
      names: Object.keys(stamp.properties).map(pinName),
      bytes: Buffer.from(`${stamp.text}}`),
    };
  }

  /**
   * Writes the events of a record. `onEvent` is called in front of each, and ends it by returning false: the record is
   * not written then, and has no hash. Returns whether it is.
   */
  write(events: readonly MappedEvent[], onEvent: () => boolean): boolean {
    const first = events[0];
    if (!first) throw new Error('a record without an event has no fingerprint');
    const { words } = this;
    if (events.length > 1) return this.#several(events, onEvent);
    if (!onEvent()) return false;
    this.#event(first);
    words[KEY_WORDS] = lanes[0] as number;
    words[KEY_WORDS + 1] = lanes[1] as number;
    hashKey(first, words);
    return true;
  }

  #several(events: readonly MappedEvent[], onEvent: () => boolean): boolean {
    const { words } = this;
    const { length } = events;
    if (this.several.length < length * HASH_WORDS) this.several = new Int32Array(length * HASH_WORDS);
    let a = SEED_ARRAY;
    let b = length;
    for (const [index, event] of events.entries()) {
      if (!onEvent()) return false;
      this.#event(event);
      a = mixFirstItem(a);
      b = mixSecondItem(b);
      const own = this.several.subarray(index * HASH_WORDS, (index + 1) * HASH_WORDS);
      own[KEY_WORDS] = lanes[0] as number;
      own[KEY_WORDS + 1] = lanes[1] as number;
      hashKey(event, own);
    }
    finish(a, b, length);
    const [first = 0, second = 0] = lanes;
    words[KEY_WORDS] = words[0] = first;
    words[KEY_WORDS + 1] = words[1] = second;
    finish(first ^ SEED_WHOLE, second, length);
    words[2] = lanes[0] as number;
    return true;
  }

  #event({ event, uuid, timestamp, properties }: MappedEvent): void {
    const start = this.#out.end;
    let a = 0;
    let b = 0;
    this.#member(EVENT, event);
    a += lanes[0] as number;
    b += lanes[1] as number;
    this.#member(UUID, uuid);
    a += lanes[0] as number;
    b += lanes[1] as number;
    this.#member(TIMESTAMP, timestamp);
    a += lanes[0] as number;
    b += lanes[1] as number;
    const stamp = this.#stamp;
    this.#member(PROPERTIES, stamp ? makeRoom(properties, stamp.names) : properties);
    a += lanes[0] as number;
    b += lanes[1] as number;
    if (stamp) {
      this.#out.end -= 1; // the brace, which the stamp brings
      this.#bytes(stamp.bytes);
    }
    this.#enclose(start, BRACES);
    finish(a ^ SEED_OBJECT, b, 4);
  }

  #list({ count, names, values }: PropertyList): void {
    const start = this.#out.end;
    let a = 0;
    let b = 0;
    let members = 0;
    for (let at = 0; at < count; at += 1) {
      const value = values[at];
      if (value === undefined) continue; // as JSON.stringify leaves it out
      this.#member(names[at] as PropertyName, value);
      a = (a + (lanes[0] as number)) | 0;
      b = (b + (lanes[1] as number)) | 0;
      members += 1;
    }
    this.#enclose(start, BRACES);
    finish(a ^ SEED_OBJECT, b, members);
  }

  #object(object: Readonly<Record<string, unknown>>): void {
    const start = this.#out.end;
    let a = 0;
    let b = 0;
    let members = 0;
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (value === undefined) continue;
      this.#member(getName(name), value);
      a = (a + (lanes[0] as number)) | 0;
      b = (b + (lanes[1] as number)) | 0;
      members += 1;
    }
    this.#enclose(start, BRACES);
    finish(a ^ SEED_OBJECT, b, members);
  }

  #array(array: readonly unknown[]): void {
    const start = this.#out.end;
    let a = SEED_ARRAY;
    let b = array.length;
    for (const value of array) {
      this.#bytes(COMMA);
      this.#value(value);
      a = mixFirstItem(a);
      b = mixSecondItem(b);
    }
    this.#enclose(start, BRACKETS);
    finish(a, b, array.length);
  }

  #member(name: PropertyName, value: unknown): void {
    this.#bytes(name.bytes);
    this.#value(value);
    hashMember(name);
  }

  #value(value: unknown): void {
    if (value instanceof JsonToken) this.#token(value);
    else if (typeof value === 'string') this.#string(value);
    else if (typeof value === 'number' && Number.isFinite(value)) {
      this.#number(value);
      hashNumber(value);
    } else if (value === true) this.#literal(TRUE, HASH_TRUE);
    else if (value === false) this.#literal(FALSE, HASH_FALSE);
    else if (value === null || typeof value !== 'object') this.#literal(NULL, HASH_NULL);
    else if (value instanceof PropertyList) this.#list(value);
    else if (Array.isArray(value)) this.#array(value);
    else if (isExactNumber(value)) {
      this.#ascii(value.digits);
      hashDigits(value);
    } else this.#object(value as Readonly<Record<string, unknown>>);
  }

  #token(token: JsonToken): void {
    if (token.isPlain) this.#copier.copy(token.text.bytes, token.start, token.end);
    else this.#value(token.read());
  }

  #literal(bytes: Uint8Array, hash: number): void {
    this.#bytes(bytes);
    finish(hash, 0, 0);
  }

  #string(text: string): void {
    const { length } = text;
    const out = this.#out;
    out.reserve(length + ROOM);
    const { bytes } = out;
    let to = out.end;
    let a = SEED_TEXT;
    let b = toSecondSeed(SEED_TEXT);
    let special = 0;
    let at = 0;
    bytes[to] = QUOTE;
    to += 1;
    for (; at + 1 < length; at += 2) {
      const first = text.charCodeAt(at);
      const second = text.charCodeAt(at + 1);
      const block = first | (second << 16);
      bytes[to] = first;
      bytes[to + 1] = second;
      to += 2;
      special |= (IS_SPECIAL[first] as number) | (IS_SPECIAL[second] as number);
      a = mixFirst(a, block);
      b = mixSecond(b, block);
    }
    if (at < length) {
      const last = text.charCodeAt(at);
      bytes[to] = last;
      to += 1;
      special |= IS_SPECIAL[last] as number;
      a ^= mixBlock(last);
      b ^= scramble(last);
    }
    finish(a, b, length);
    if (special === 0) {
      bytes[to] = QUOTE;
      out.end = to + 1;
    } else out.write(JSON.stringify(text)); // over what was tried
  }

  /** Whole numbers, such as times and counts, digit by digit: `String` is made for all others. */
  #number(value: number): void {
    if (!(value >= 10 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value)) {
      this.#ascii(String(value));
      return;
    }
    const out = this.#out;
    out.reserve(MAX_DIGITS + ROOM);
    let digits = 2;
    for (let power = 100; power <= value; power *= 10) digits += 1;
    out.end += digits;
    let rest = value;
    for (let at = out.end - 1; rest > 0; at -= 1) {
      const tenth = Math.floor(rest / 10);
      out.bytes[at] = ZERO + (rest - tenth * 10);
      rest = tenth;
    }
  }

  #ascii(text: string): void {
    const out = this.#out;
    out.reserve(text.length + ROOM);
    const { bytes, end } = out;
    for (let at = 0; at < text.length; at += 1) bytes[end + at] = text.charCodeAt(at);
    out.end = end + text.length;
  }

  #bytes(text: Uint8Array): void {
    const out = this.#out;
    out.reserve(text.length + ROOM);
    const { bytes, end } = out;
    for (let at = 0; at < text.length; at += 1) bytes[end + at] = text[at] as number;
    out.end = end + text.length;
  }

  /** Every member and item begins with a comma, the first one with the bracket in its place. */
  #enclose(start: number, [open, close]: readonly [number, number]): void {
    const out = this.#out;
    out.reserve(ROOM);
    if (out.end === start) out.end += 1;
    out.bytes[start] = open;
    out.bytes[out.end] = close;
    out.end += 1;
  }
}

/** Properties of the record that are called as a stamp is go under a name of their own, as reserved ones do. */
function makeRoom(
  properties: EventProperties | PropertyList,
  names: readonly PropertyName[],
): EventProperties | PropertyList {
  for (const name of names) if (hasProperty(properties, name)) return moveAway(properties, names);
  return properties;
}

function moveAway(properties: EventProperties | PropertyList, names: readonly PropertyName[]): PropertyList {
  const moved = new PropertyList();
  const put = (name: PropertyName, value: unknown) => {
    const own = names.includes(name)
      ? getName(toOwnName(name.text, (text) => hasProperty(properties, getName(text))))
      : name;
    moved.set(own, value);
  };
  if (properties instanceof PropertyList) {
    const { count, names: own, values } = properties;
    for (let at = 0; at < count; at += 1) put(own[at] as PropertyName, values[at]);
  } else for (const [name, value] of Object.entries(properties)) put(getName(name), value);
  return moved;
}

const hasProperty = (properties: EventProperties | PropertyList, name: PropertyName): boolean =>
  properties instanceof PropertyList ? properties.has(name) : Object.hasOwn(properties, name.text);

/** For the rest of the key of a record of several events. */
const SEED_WHOLE = 0x6a09e667;
const QUOTE = 0x22;
/** Two quotes or two brackets. */
const ROOM = 2;
/** Of the largest whole number that a double counts to. */
const MAX_DIGITS = 16;
const ZERO = 0x30;
const BRACES = [0x7b, 0x7d] as const;
const BRACKETS = [0x5b, 0x5d] as const;
const COMMA = Buffer.from(',');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

const EVENT = pinName('event');
const UUID = pinName('uuid');
const TIMESTAMP = pinName('timestamp');
const PROPERTIES = pinName('properties');

/** Characters that JSON escapes, and those of more than one byte. */
const IS_SPECIAL = new Uint8Array(2 ** 16).fill(1);
IS_SPECIAL.fill(0, 0x20, 0x7f + 1);
IS_SPECIAL[QUOTE] = 1;
IS_SPECIAL[0x5c] = 1;
