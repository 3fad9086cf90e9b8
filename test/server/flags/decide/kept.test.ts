import { expect, test } from 'vitest';
import { createKept } from '../../../../src/server/flags/decide/kept.ts';

function createLab(maxCharacters = 10_000) {
  let changes = 0;
  const kept = createKept<string>(() => changes, maxCharacters);
  return {
    kept,
    change: () => {
      changes += 1;
    },
    keep: (key: string, characters = 10) => kept.begin()(key, `of ${key}`, characters),
  };
}

test('keeps a value until something may have changed', () => {
  const { kept, change, keep } = createLab();
  keep('ada');
  expect(kept.find('ada')).toBe('of ada');
  expect(kept.find('bob')).toBeUndefined();
  change();
  expect(kept.find('ada')).toBeUndefined();
});

test('does not keep what may have changed while it was looked up', () => {
  const { kept, change } = createLab();
  const keep = kept.begin();
  change();
  keep('ada', 'old', 10);
  expect(kept.find('ada')).toBeUndefined();
  const late = kept.begin();
  change();
  kept.find('bob'); // somebody else's request notices the change first
  late('ada', 'old', 10);
  expect(kept.find('ada')).toBeUndefined();
});

test('keeps no more than fits, the oldest goes first', () => {
  const { kept, keep } = createLab(500);
  for (const id of ['ada', 'bob', 'cyd']) keep(id);
  expect(['ada', 'bob', 'cyd'].map((id) => kept.find(id) !== undefined)).toEqual([false, true, true]);
  keep('dan', 501);
  expect(kept.find('dan')).toBeUndefined();
  keep('cyd');
  expect(kept.find('bob')).toBeDefined(); // cyd took the place of cyd
});

test('keeps nothing where other processes write', () => {
  const kept = createKept<string>(undefined, 10_000);
  kept.begin()('ada', 'old', 10);
  expect(kept.find('ada')).toBeUndefined();
});
