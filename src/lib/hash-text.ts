/**
 * murmur3 over UTF-16 units, two to a block, in two lanes that differ in seed and constants. Results are left
 * in `lanes`: a pair of numbers as a result would be garbage of every hash.
 *
 * Stored fingerprints depend on it.
 */
export const lanes = new Int32Array(2);

/** For text as a value, and for names of members. */
export const SEED_TEXT = 0x1b873593;

const C1 = 0xcc9e2d51;
const C2 = 0x239b961b;
const C3 = 0xab0e9789;

export const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
export const mixBlock = (block: number): number => Math.imul(rotate(Math.imul(block, C1), 15), C2);

/** The second lane's start; the first one's is the seed itself. */
export const toSecondSeed = (seed: number): number => Math.imul(seed, C3) | 1;
export const mixFirst = (lane: number, block: number): number =>
  (Math.imul(rotate(lane ^ mixBlock(block), 13), 5) + 0xe6546b64) | 0;
export const mixSecond = (lane: number, block: number): number =>
  (Math.imul(rotate(lane ^ scramble(block), 15), 5) + 0x561ccd1b) | 0;
export const scramble = (block: number): number => Math.imul(rotate(Math.imul(block, C3), 17), C1);

/** Of a value inside of its member. */
export const scaleSecond = (lane: number): number => Math.imul(lane, C2);

export function hashText(text: string, seed: number): void {
  const { length } = text;
  let a = seed;
  let b = toSecondSeed(seed);
  let at = 0;
  for (; at + 1 < length; at += 2) {
    const block = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
    a = mixFirst(a, block);
    b = mixSecond(b, block);
  }
  if (at < length) {
    const block = text.charCodeAt(at);
    a ^= mixBlock(block);
    b ^= scramble(block);
  }
  finish(a, b, length);
}

/** murmur3's finaliser; each lane ends with something of the other. */
export function finish(first: number, second: number, length: number): void {
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
