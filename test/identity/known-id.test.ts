import { expect, test } from 'vitest';
import { joinMonths } from '../../src/identity/known-id.ts';

test('months of two lists are there once, and neither list is changed', () => {
  const known = [3, 1];
  expect(joinMonths(known, [1, 5, 5, 3, 2])).toEqual([3, 1, 5, 2]);
  expect(known).toEqual([3, 1]);
  expect(joinMonths(known, [1, 3])).toBe(known);
  expect(joinMonths([], known)).toBe(known);
});
