import type { TargetEvent } from '../contract/event.ts';
import { canonicalDigits, isExactNumber } from '../lib/json/exact-number.ts';

/** 32-bit words of a key and of a content hash. */
export const KEY_WORDS = 3;
export const CONTENT_WORDS = 2;

/**
 * Hashes an event without building its canonical text: a member's hash is mixed from its name and its value,
 * and an object's is the sum of its members', so that their order does not matter and nothing is sorted.
 * Strings are hashed by murmur3, two lanes at once. Writes the key (what the destination tells rows by: uuid,
 * event name, distinct_id and UTC day) to the first words of `into`, the content (the whole event) behind it.
 * The mapping adds neither an import stamp nor enrichment to events, so there is nothing to leave out.
 *
 * Stored fingerprints depend on it: another hash would find no repeats of what was sent before.
 */
export function hashEvents(events: readonly TargetEvent[], into: Int32Array, at: number): void {
  const first = events[0];
  if (!first) throw new Error('a record without an event has no fingerprint');
  const { distinct_id: distinctId } = first.properties;
  const key = `${first.uuid}${first.timestamp.slice(0, 10)}${distinctId.length}:${distinctId}${first.event}`;
  hashText(key, SEED_KEY);
  into[at] = lanes[0] as number;
  into[at + 1] = lanes[1] as number;
  hashText(key, SEED_KEY_MORE);
  into[at + 2] = lanes[0] as number;
  if (events.length === 1) hashValue(first);
  else hashValue(events);
  into[at + KEY_WORDS] = lanes[0] as number;
  into[at + KEY_WORDS + 1] = lanes[1] as number;
}

/** The result of the last hash. */
const lanes = new Int32Array(2);

const SEED_KEY = 0x2f6e1d35;
const SEED_KEY_MORE = 0x51ab7c03;
const SEED_TEXT = 0x1b873593;
/** One for each kind of value, so that "1", 1 and true differ. */
const SEED_NUMBER = 0x38b34ae5;
const SEED_DIGITS = 0x7ed55d16;
const SEED_OBJECT = 0x4b9f1d27;
const SEED_ARRAY = 0x165667b1;
const NULL = 0x27d4eb2f;
const TRUE = 0x3c6ef372;
const FALSE = 0x5851f42d;

const double = new Float64Array(1);
const doubleWords = new Int32Array(double.buffer);

function hashValue(value: unknown): void {
  if (typeof value === 'string') hashText(value, SEED_TEXT);
  else if (typeof value === 'number') hashNumber(value);
  else if (typeof value === 'boolean') finish(value ? TRUE : FALSE, 0, 0);
  else if (value === null || typeof value !== 'object') finish(NULL, 0, 0);
  else if (isExactNumber(value)) hashDigits(canonicalDigits(value));
  else if (Array.isArray(value)) hashArray(value);
  else hashObject(value as Readonly<Record<string, unknown>>);
}

function hashNumber(value: number): void {
  double[0] = value === 0 ? 0 : value; // -0 is written as 0
  if (Number.isFinite(value)) {
    finish(SEED_NUMBER ^ mixBlock(doubleWords[0] as number), doubleWords[1] as number, 8);
  } else finish(NULL, 0, 0); // as JSON.stringify writes it
}

/** A double's value has one hash, whoever carries it. */
function hashDigits(digits: string): void {
  const number = Number(digits);
  if (String(number) === digits) hashNumber(number);
  else hashText(digits, SEED_DIGITS);
}

function hashArray(values: readonly unknown[]): void {
  let a = SEED_ARRAY;
  let b = values.length;
  for (const value of values) {
    hashValue(value);
    a = Math.imul(rotate(a ^ mixBlock(lanes[0] as number), 13), 5) + 0x52dce729;
    b = Math.imul(rotate(b ^ mixBlock(lanes[1] as number), 17), 5) + 0x38495ab5;
  }
  finish(a, b, values.length);
}

function hashObject(value: Readonly<Record<string, unknown>>): void {
  let a = 0;
  let b = 0;
  let members = 0;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue; // as JSON.stringify leaves it out
    hashValue(member);
    const valueA = lanes[0] as number;
    const valueB = lanes[1] as number;
    loadName(name);
    finish((lanes[0] as number) ^ mixBlock(valueA), (lanes[1] as number) + Math.imul(valueB, C2), 16);
    a = (a + (lanes[0] as number)) | 0;
    b = (b + (lanes[1] as number)) | 0;
    members += 1;
  }
  finish(a ^ SEED_OBJECT, b, members);
}

/** Hashes of names, which few sources have many of. */
const names = new Map<string, number>();
const NAMES_MAX = 8_192;
const nameLanes = new Int32Array(2 * NAMES_MAX);

function loadName(name: string): void {
  const known = names.get(name);
  if (known !== undefined) {
    lanes[0] = nameLanes[known] as number;
    lanes[1] = nameLanes[known + 1] as number;
    return;
  }
  hashText(name, SEED_TEXT);
  if (names.size === NAMES_MAX) return;
  const at = 2 * names.size;
  names.set(name, at);
  nameLanes[at] = lanes[0] as number;
  nameLanes[at + 1] = lanes[1] as number;
}

const C1 = 0xcc9e2d51;
const C2 = 0x239b961b;
const C3 = 0xab0e9789;

const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
const mixBlock = (block: number): number => Math.imul(rotate(Math.imul(block, C1), 15), C2);

/** murmur3 over UTF-16 units, two to a block, in two lanes that differ in seed and constants. */
function hashText(text: string, seed: number): void {
  const { length } = text;
  let a = seed;
  let b = Math.imul(seed, C3) | 1;
  let at = 0;
  for (; at + 1 < length; at += 2) {
    const block = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
    a = (Math.imul(rotate(a ^ mixBlock(block), 13), 5) + 0xe6546b64) | 0;
    b = (Math.imul(rotate(b ^ Math.imul(rotate(Math.imul(block, C3), 17), C1), 15), 5) + 0x561ccd1b) | 0;
  }
  if (at < length) {
    const block = text.charCodeAt(at);
    a ^= mixBlock(block);
    b ^= Math.imul(rotate(Math.imul(block, C3), 17), C1);
  }
  finish(a, b, length);
}

/** murmur3's finaliser; each lane ends with something of the other. */
function finish(first: number, second: number, length: number): void {
  let a = first ^ length;
  let b = second ^ length;
  a = (a + b) | 0;
  b = (b + a) | 0;
  a = finalise(a);
  b = finalise(b);
  a = (a + b) | 0;
  lanes[0] = a;
  lanes[1] = (b + a) | 0;
}

function finalise(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
