import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compareNaturally } from '../../../src/sources/files/natural-order.ts';

it('puts un-padded hours in the order of the clock', () => {
  const names = ['1/1_2024-01-01_0#0.json.gz', '1/1_2024-01-01_9#1.json.gz', '1/1_2024-01-01_9#2.json.gz'];
  const later = ['1/1_2024-01-01_10#0.json.gz', '1/1_2024-01-01_23#10.json.gz', '1/1_2024-01-02_0#0.json.gz'];
  expect([...later, ...names].reverse().sort(compareNaturally)).toEqual([...names, ...later]);
});

it('is an order: consistent, and never equal for two different names', () => {
  const name = fc.string({ unit: fc.constantFrom('0', '1', '10', 'a', 'B', '/', '_', 'é') });
  fc.assert(
    fc.property(name, name, name, (a, b, c) => {
      expect(Math.sign(compareNaturally(a, b))).toBe(-Math.sign(compareNaturally(b, a)) + 0);
      expect(compareNaturally(a, b) === 0).toBe(a === b);
      if (compareNaturally(a, b) <= 0 && compareNaturally(b, c) <= 0)
        expect(compareNaturally(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});
