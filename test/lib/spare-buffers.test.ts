import { expect, it } from 'vitest';
import { giveBuffer, takeBuffer } from '../../src/lib/spare-buffers.ts';

const MEGABYTE = 1024 * 1024;

it('gives the same memory to one taker at a time, the smallest that is large enough', () => {
  const larger = takeBuffer(3 * MEGABYTE);
  const smaller = takeBuffer(2 * MEGABYTE);
  giveBuffer(larger.subarray(0, 5)); // what was written into it
  giveBuffer(smaller);
  const [first, second, third] = [takeBuffer(MEGABYTE), takeBuffer(MEGABYTE), takeBuffer(MEGABYTE)];
  expect(first.buffer).toBe(smaller.buffer);
  expect(second.buffer).toBe(larger.buffer);
  expect([first.buffer, second.buffer]).not.toContain(third.buffer);
  expect([first.length, second.length]).toEqual([2 * MEGABYTE, 3 * MEGABYTE]);
});

it('gives no memory of which little would be used, and keeps neither small buffers nor many', () => {
  const large = takeBuffer(10 * MEGABYTE);
  giveBuffer(large);
  expect(takeBuffer(2 * MEGABYTE).buffer).not.toBe(large.buffer);
  expect(takeBuffer(5 * MEGABYTE).buffer).toBe(large.buffer);
  const small = Buffer.from('of memory that Node.js shares');
  giveBuffer(small);
  expect(takeBuffer(8).buffer).not.toBe(small.buffer);
  const many = Array.from({ length: 4 }, () => takeBuffer(10 * MEGABYTE));
  for (const buffer of many) giveBuffer(buffer);
  const again = new Set(many.map(() => takeBuffer(10 * MEGABYTE).buffer));
  expect(many.filter(({ buffer }) => again.has(buffer))).toHaveLength(2);
});
