import { beforeEach, expect, it, vi } from 'vitest';
import type * as SpareBuffers from '../../src/lib/spare-buffers.ts';

// Other tests of the process leave buffers behind.
let giveBuffer: typeof SpareBuffers.giveBuffer;
let takeBuffer: typeof SpareBuffers.takeBuffer;
let dropSpareBuffers: typeof SpareBuffers.dropSpareBuffers;
beforeEach(async () => {
  vi.resetModules();
  ({ giveBuffer, takeBuffer, dropSpareBuffers } = await import('../../src/lib/spare-buffers.ts'));
});

const MEGABYTE = 1024 * 1024;

/** The expectations of a test runner would compare megabytes one by one. */
const isSame = (a: Buffer, b: Buffer): boolean => a.buffer === b.buffer;

it('gives the same memory to one taker at a time, the smallest that is large enough', () => {
  const larger = takeBuffer(3 * MEGABYTE);
  const smaller = takeBuffer(2 * MEGABYTE);
  giveBuffer(larger.subarray(0, 5)); // what was written into it
  giveBuffer(smaller);
  const [first, second, third] = [takeBuffer(MEGABYTE), takeBuffer(MEGABYTE), takeBuffer(MEGABYTE)];
  expect(isSame(first, smaller)).toBe(true);
  expect(isSame(second, larger)).toBe(true);
  expect(isSame(third, first) || isSame(third, second)).toBe(false);
  expect([first.length, second.length]).toEqual([2 * MEGABYTE, 3 * MEGABYTE]);
});

it('gives no memory of which little would be used, and keeps no small buffers', () => {
  const large = takeBuffer(10 * MEGABYTE);
  giveBuffer(large);
  expect(isSame(takeBuffer(2 * MEGABYTE), large)).toBe(false);
  expect(isSame(takeBuffer(5 * MEGABYTE), large)).toBe(true);
  const small = Buffer.from('of memory that Node.js shares');
  giveBuffer(small);
  expect(isSame(takeBuffer(8), small)).toBe(false);
});

it('keeps those that were given last, where there are too many', () => {
  const many = Array.from({ length: 5 }, () => takeBuffer(10 * MEGABYTE));
  for (const buffer of many) giveBuffer(buffer);
  const again = new Set(many.map(() => takeBuffer(10 * MEGABYTE).buffer));
  expect(many.map(({ buffer }) => again.has(buffer))).toEqual([false, false, true, true, true]);
});

it('gives the memory of a part to the next one, which is a few bytes larger', () => {
  const part = takeBuffer(8 * MEGABYTE - 5_000);
  giveBuffer(part);
  expect(isSame(takeBuffer(8 * MEGABYTE - 3), part)).toBe(true);
});

it('forgets those that are not needed any more, and begins again', () => {
  const first = takeBuffer(MEGABYTE);
  giveBuffer(first);
  dropSpareBuffers();
  const second = takeBuffer(MEGABYTE);
  expect(isSame(first, second)).toBe(false);
  giveBuffer(second);
  expect(isSame(takeBuffer(MEGABYTE), second)).toBe(true);
});
