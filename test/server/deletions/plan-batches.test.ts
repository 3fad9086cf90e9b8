import fc from 'fast-check';
import { expect, it } from 'vitest';
import { planBatches } from '../../../src/server/deletions/plan-batches.ts';

const found = (...counts: number[]) => counts.map((events, n) => ({ distinctId: `id ${n}`, events }));
const sizes = (...counts: number[]) => planBatches(found(...counts), 10).map((batch) => batch.length);

it('puts small ids together, up to the limit', () => {
  expect(sizes(4, 6)).toEqual([2]);
  expect(sizes(4, 7)).toEqual([1, 1]);
  expect(sizes(1, 1, 1)).toEqual([3]);
  expect(sizes()).toEqual([]);
});

it('leaves an id of more events than a batch to itself', () => {
  expect(sizes(1, 10, 1)).toEqual([1, 1, 1]);
  expect(sizes(10)).toEqual([1]);
});

it('keeps every id once and every batch within the limit', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 10 }));
  fc.assert(
    fc.property(counts, (events) => {
      const ids = found(...events);
      const batches = planBatches(ids, 10);
      expect(batches.flat()).toEqual(ids.map(({ distinctId }) => distinctId));
      for (const batch of batches) {
        const sum = batch.reduce(
          (total, id) => total + (ids.find(({ distinctId }) => distinctId === id)?.events ?? 0),
          0,
        );
        expect(sum).toBeLessThanOrEqual(10);
      }
    }),
  );
});
