import { expect, test } from 'vitest';
import { createKept } from '../../../../src/server/flags/decide/kept.ts';
import type { Found, Wanted } from '../../../../src/server/flags/decide/lookup.ts';

const wanted = (distinctId: string, groups: Record<string, string> = {}): Wanted => ({
  projectKey: 'phc_a',
  distinctId,
  groups: new Map(Object.entries(groups)),
});

const found = (characters = 10): Found => ({
  projectId: 1,
  flagsVersion: 1,
  person: { kind: 'none' },
  hashKeys: new Map(),
  groups: new Map(),
  characters,
});

function createLab(maxCharacters?: number) {
  let changes = 0;
  const kept = createKept({ watch: () => () => changes }, maxCharacters);
  return {
    kept,
    change: () => {
      changes += 1;
    },
  };
}

test('keeps what was found until something may have changed', () => {
  const { kept, change } = createLab();
  const ada = found();
  kept.begin(wanted('ada'))(ada);
  expect(kept.find(wanted('ada'))).toBe(ada);
  expect(kept.find(wanted('bob'))).toBeUndefined();
  expect(kept.find(wanted('ada', { company: 'acme' }))).toBeUndefined();
  expect(kept.find({ ...wanted('ada'), projectKey: 'phc_b' })).toBeUndefined();
  change();
  expect(kept.find(wanted('ada'))).toBeUndefined();
});

test('does not keep what may have changed while it was looked up', () => {
  const { kept, change } = createLab();
  const keep = kept.begin(wanted('ada'));
  change();
  keep(found());
  expect(kept.find(wanted('ada'))).toBeUndefined();
  const late = kept.begin(wanted('ada'));
  change();
  kept.find(wanted('bob')); // somebody else's request notices the change first
  late(found());
  expect(kept.find(wanted('ada'))).toBeUndefined();
});

test('keeps no more than fits, the oldest goes first', () => {
  const { kept } = createLab(500);
  for (const id of ['ada', 'bob', 'cyd']) kept.begin(wanted(id))(found());
  expect(['ada', 'bob', 'cyd'].map((id) => kept.find(wanted(id)) !== undefined)).toEqual([false, true, true]);
  kept.begin(wanted('dan'))(found(501));
  expect(kept.find(wanted('dan'))).toBeUndefined();
  kept.begin(wanted('cyd'))(found());
  expect(kept.find(wanted('bob'))).toBeDefined(); // cyd took the place of cyd
});

test('keeps nothing where other processes write', () => {
  const kept = createKept({ watch: () => undefined });
  kept.begin(wanted('ada'))(found());
  expect(kept.find(wanted('ada'))).toBeUndefined();
});
