import type { MappedEvent } from '../contract/event.ts';
import {
  finish,
  hashText,
  lanes,
  mixBlock,
  mixFirst,
  mixSecond,
  rotate,
  scaleSecond,
  scramble,
  toSecondSeed,
} from '../lib/hash-text.ts';
import { canonicalDigits, type ExactNumber } from '../lib/json/exact-number.ts';
import { type PropertyName, readDistinctId } from '../lib/json/property-list.ts';

/**
 * How an event is hashed: the hash of a member is mixed from its name and its value, and an object's is the sum
 * of its members', so that their order does not matter and nothing is sorted. Each function leaves its two words
 * in `lanes`; `event-writer.ts` walks the event.
 *
 * Stored fingerprints depend on all of it: another hash would find no repeats of what was sent before.
 */
export const SEED_OBJECT = 0x4b9f1d27;
export const SEED_ARRAY = 0x165667b1;
export const HASH_NULL = 0x27d4eb2f;
export const HASH_TRUE = 0x3c6ef372;
export const HASH_FALSE = 0x5851f42d;
/** One for each kind of value, so that "1", 1 and true differ. */
const SEED_NUMBER = 0x38b34ae5;
const SEED_DIGITS = 0x7ed55d16;
const SEED_KEY = 0x2f6e1d35;
const SEED_KEY_MORE = 0x51ab7c03;

/** 32-bit words of a key. */
export const KEY_WORDS = 3;

/** What the destination tells rows by: uuid, event name, distinct_id and UTC day. Hashed by two seeds in one pass. */
export function hashKey(event: MappedEvent, words: Int32Array): void {
  const distinctId = readDistinctId(event.properties);
  const key = `${event.uuid}${event.timestamp.slice(0, 10)}${distinctId.length}:${distinctId}${event.event}`;
  const { length } = key;
  let a = SEED_KEY;
  let b = toSecondSeed(SEED_KEY);
  let moreA = SEED_KEY_MORE;
  let moreB = toSecondSeed(SEED_KEY_MORE);
  let at = 0;
  for (; at + 1 < length; at += 2) {
    const block = key.charCodeAt(at) | (key.charCodeAt(at + 1) << 16);
    a = mixFirst(a, block);
    b = mixSecond(b, block);
    moreA = mixFirst(moreA, block);
    moreB = mixSecond(moreB, block);
  }
  if (at < length) {
    const block = key.charCodeAt(at);
    a ^= mixBlock(block);
    b ^= scramble(block);
    moreA ^= mixBlock(block);
    moreB ^= scramble(block);
  }
  finish(a, b, length);
  words[0] = lanes[0] as number;
  words[1] = lanes[1] as number;
  finish(moreA, moreB, length);
  words[2] = lanes[0] as number;
}

/** A member, once the hash of its value is in `lanes`. */
export const hashMember = ({ hashA, hashB }: PropertyName): void => hashMemberOf(hashA, hashB);

/** The same by the two words of the name. */
export function hashMemberOf(nameA: number, nameB: number): void {
  const value = lanes[0] as number;
  finish(nameA ^ mixBlock(value), (nameB + scaleSecond(lanes[1] as number)) | 0, 16);
}

/** One more item of a list, whose hash is in `lanes`. */
export const mixFirstItem = (list: number): number =>
  (Math.imul(rotate(list ^ mixBlock(lanes[0] as number), 13), 5) + 0x52dce729) | 0;
export const mixSecondItem = (list: number): number =>
  (Math.imul(rotate(list ^ mixBlock(lanes[1] as number), 17), 5) + 0x38495ab5) | 0;

const double = new Float64Array(1);
const doubleWords = new Int32Array(double.buffer);

export function hashNumber(value: number): void {
  double[0] = value === 0 ? 0 : value; // -0 is written as 0
  finish(SEED_NUMBER ^ mixBlock(doubleWords[0] as number), doubleWords[1] as number, 8);
}

/** A double's value has one hash, whoever carries it. */
export function hashDigits(exact: ExactNumber): void {
  const digits = canonicalDigits(exact);
  const number = Number(digits);
  if (String(number) === digits) hashNumber(number);
  else hashText(digits, SEED_DIGITS);
}
