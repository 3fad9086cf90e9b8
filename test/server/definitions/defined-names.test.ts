import { expect, it } from 'vitest';
import { createDefinedNames } from '../../../src/server/definitions/defined-names.ts';

const HOUR_MS = 3_600_000;
const shop = { id: 1, definitionsRemoved: 0 };

it('asks for a name once an hour', () => {
  let clockMs = 0;
  const names = createDefinedNames(() => clockMs).forProject(shop);
  expect(names.findMissing(['a', 'b'])).toEqual(['a', 'b']);
  names.remember(['a']);
  expect(names.findMissing(['a', 'b'])).toEqual(['b']);
  clockMs = HOUR_MS - 1;
  expect(names.findMissing(['a'])).toEqual([]);
  clockMs = HOUR_MS;
  expect(names.findMissing(['a'])).toEqual(['a']);
});

it('keeps projects apart', () => {
  const defined = createDefinedNames(() => 0);
  defined.forProject(shop).remember(['a']);
  expect(defined.forProject({ ...shop, id: 2 }).findMissing(['a'])).toEqual(['a']);
  expect(defined.forProject(shop).findMissing(['a'])).toEqual([]);
});

it('forgets a project when one of its definitions was removed, and what an earlier request learnt', () => {
  const defined = createDefinedNames(() => 0);
  const earlier = defined.forProject(shop);
  earlier.remember(['a']);
  const later = defined.forProject({ ...shop, definitionsRemoved: 1 });
  expect(later.findMissing(['a'])).toEqual(['a']);
  earlier.remember(['a']);
  expect(later.findMissing(['a'])).toEqual(['a']);
});

it('forgets everything rather than remember more names than it may', () => {
  const defined = createDefinedNames(() => 0, 3);
  const names = defined.forProject(shop);
  names.remember(['a', 'b', 'c']);
  expect(names.findMissing(['a', 'b', 'c'])).toEqual([]);
  names.remember(['a', 'b', 'c']); // the same again might have been one too many
  defined.forProject({ ...shop, id: 2 }).remember(['d']);
  expect(names.findMissing(['a'])).toEqual(['a']);
  names.remember(['1', '2', '3', '4']);
  expect(names.findMissing(['1'])).toEqual(['1']);
});
