import { expect, test } from 'vitest';
import { BUCKETS, getBucket, getOrder, ORDER_BITS } from '../../src/state/bucket.ts';

test('stored identity facts stay readable: an id keeps its bucket', () => {
  expect(['', 'a', 'user-1', 'ü🚀', '7205759403792793601'].map(getBucket)).toEqual([11, 51, 44, 10, 2]);
});

test('ids that differ in their last digits spread over all buckets and slices', () => {
  const ids = Array.from({ length: 64_000 }, (_, number) => `user-${number}`);
  const perBucket = new Array<number>(BUCKETS).fill(0);
  for (const id of ids) perBucket[getBucket(id)] = (perBucket[getBucket(id)] ?? 0) + 1;
  expect(Math.min(...perBucket)).toBeGreaterThan(800);
  expect(Math.max(...perBucket)).toBeLessThan(1_200);

  const inBucket = ids.filter((id) => getBucket(id) === 0);
  const lower = inBucket.filter((id) => getOrder(id) < 2 ** (ORDER_BITS - 1)).length;
  expect(lower / inBucket.length).toBeGreaterThan(0.4);
  expect(lower / inBucket.length).toBeLessThan(0.6);
});

test('the order of an id begins with its bucket', () => {
  for (let number = 0; number < 1_000; number += 1) {
    const id = `device-${number}`;
    expect(Math.floor(getOrder(id) / 2 ** ORDER_BITS)).toBe(getBucket(id));
  }
});
