import { expect, it } from 'vitest';
import { createDefinedNames } from '../../../src/server/capture/defined-names.ts';

const HOUR_MS = 3_600_000;
const shop = { id: 1, definitionsRemoved: 0 };

it('asks for a name once an hour', () => {
  let clockMs = 0;
  const names = createDefinedNames(() => clockMs).of(shop);
  expect(names.missing(['a', 'b'])).toEqual(['a', 'b']);
  names.remember(['a']);
  expect(names.missing(['a', 'b'])).toEqual(['b']);
  clockMs = HOUR_MS - 1;
  expect(names.missing(['a'])).toEqual([]);
  clockMs = HOUR_MS;
  expect(names.missing(['a'])).toEqual(['a']);
});

it('keeps projects apart', () => {
  const defined = createDefinedNames(() => 0);
  defined.of(shop).remember(['a']);
  expect(defined.of({ ...shop, id: 2 }).missing(['a'])).toEqual(['a']);
  expect(defined.of(shop).missing(['a'])).toEqual([]);
});

it('forgets a project when one of its definitions was removed, and what an earlier request learnt', () => {
  const defined = createDefinedNames(() => 0);
  const earlier = defined.of(shop);
  earlier.remember(['a']);
  const later = defined.of({ ...shop, definitionsRemoved: 1 });
  expect(later.missing(['a'])).toEqual(['a']);
  earlier.remember(['a']);
  expect(later.missing(['a'])).toEqual(['a']);
});

it('forgets everything rather than remember more names than it may', () => {
  const defined = createDefinedNames(() => 0, 3);
  const names = defined.of(shop);
  names.remember(['a', 'b', 'c']);
  expect(names.missing(['a', 'b', 'c'])).toEqual([]);
  names.remember(['a', 'b', 'c']); // the same again might have been one too many
  defined.of({ ...shop, id: 2 }).remember(['d']);
  expect(names.missing(['a'])).toEqual(['a']);
  names.remember(['1', '2', '3', '4']);
  expect(names.missing(['1'])).toEqual(['1']);
});
