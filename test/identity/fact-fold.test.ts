import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeferredValues, type IdentityFact, readValues } from '../../src/contract/identity-fact.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { ExactNumber } from '../../src/lib/json/exact-number.ts';
import { BucketLines } from '../../src/state/facts/bucket-lines.ts';
import { parseStoredFact, renderFact, type StoredFact } from '../../src/state/facts/fact-line.ts';
import { anyFact, listProperties } from './facts.ts';

const foldFacts = (facts: readonly IdentityFact[]) => {
  const fold = new FactFold();
  for (const fact of facts) fold.add(fact);
  return fold;
};

const merged = (...folds: readonly FactFold[]) => {
  const fold = new FactFold();
  for (const one of folds) for (const fact of one.takeStored()) fold.addStored(fact);
  return fold;
};

const renderLines = (fold: FactFold) => [...fold.takeStored()].map(renderFact).sort();

const encode = (fold: FactFold) => {
  const lines = new BucketLines();
  for (const fact of fold.takeStored()) lines.add(renderFact(fact));
  return [...lines.texts()].map(({ bucket, body }) => [bucket, String(body)]);
};

const three = fc.tuple(fc.array(anyFact), fc.array(anyFact), fc.array(anyFact));

test('folding does not depend on the cut, the order, or on facts that come twice', () => {
  fc.assert(
    fc.property(three, ([a, b, c]) => {
      const whole = renderLines(foldFacts([...a, ...b, ...c]));
      expect(renderLines(foldFacts([...c, ...a, ...b, ...a].reverse()))).toEqual(whole);
      expect(renderLines(merged(foldFacts(a), merged(foldFacts(b), foldFacts(c))))).toEqual(whole);
      expect(renderLines(merged(merged(foldFacts(c), foldFacts(b)), foldFacts(a), foldFacts(c)))).toEqual(
        whole,
      );
    }),
  );
});

test('equal facts make equal objects, byte for byte', () => {
  fc.assert(
    fc.property(fc.array(anyFact), (facts) => {
      expect(encode(foldFacts([...facts].reverse()))).toEqual(encode(foldFacts(facts)));
    }),
  );
});

test('values that are read late fold as those that are there', () => {
  const shared = new Map<string, ReadonlySet<string>>();
  const defer = (values: Parameters<typeof readValues>[0] | undefined) => {
    if (values === undefined) return undefined;
    const plain = readValues(values);
    const keys = Object.keys(plain);
    const same = shared.get(keys.join()) ?? new Set(keys);
    shared.set(keys.join(), same);
    return new DeferredValues(same, { set: plain, setOnce: plain }, 'set');
  };
  fc.assert(
    fc.property(fc.array(anyFact), fc.array(fc.boolean()), (facts, isLate) => {
      const late = facts.map((fact, at) =>
        fact.kind === 'person' && isLate[at] !== false
          ? { ...fact, set: defer(fact.set), setOnce: defer(fact.setOnce) }
          : fact,
      );
      expect(encode(foldFacts(late))).toEqual(encode(foldFacts(facts)));
    }),
  );
});

test('a line holds all of its fact', () => {
  fc.assert(
    fc.property(fc.array(anyFact), (facts) => {
      for (const fact of foldFacts(facts).takeStored())
        expect(parseStoredFact(renderFact(fact))).toEqual(fact);
    }),
  );
});

const person = (
  time: string,
  set: Record<string, unknown>,
  setOnce: Record<string, unknown> = {},
): IdentityFact => ({
  kind: 'person',
  distinctId: 'u1',
  time: `2023-01-0${time}T00:00:00.000Z`,
  set,
  setOnce,
});

const listStored = (fold: FactFold, kind: StoredFact['kind']) =>
  [...fold.takeStored()]
    .filter((fact) => fact.kind === kind)
    .map((fact) => ('properties' in fact ? { ...fact, ...listProperties(fact.properties) } : fact));

test('the latest value set and the earliest value set once are kept, whatever came in first', () => {
  const fold = foldFacts([
    person('2', { plan: 'team' }, { first_seen: 'second' }),
    person('3', { plan: 'business' }, { first_seen: 'third' }),
    person('1', { plan: 'free', old: true }, { first_seen: 'first' }),
  ]);
  expect(listStored(fold, 'person')).toEqual([
    {
      kind: 'person',
      id: 'u1',
      properties: expect.any(String),
      set: [
        ['old', '2023-01-01T00:00:00.000Z', 'true'],
        ['plan', '2023-01-03T00:00:00.000Z', '"business"'],
      ],
      setOnce: [['first_seen', '2023-01-01T00:00:00.000Z', '"first"']],
    },
  ]);
});

test('of two values at the same time the greater text wins in either order', () => {
  const a = person('1', { plan: 'a' });
  const b = person('1', { plan: 'b' });
  for (const fold of [foldFacts([a, b]), foldFacts([b, a])]) {
    expect(listStored(fold, 'person')).toMatchObject([
      { set: [['plan', '2023-01-01T00:00:00.000Z', '"b"']] },
    ]);
  }
});

test('null is a value, undefined is none', () => {
  const fold = foldFacts([person('1', { plan: null, gone: undefined })]);
  expect(listStored(fold, 'person')).toMatchObject([{ set: [['plan', '2023-01-01T00:00:00.000Z', 'null']] }]);
});

test('a number keeps the digits that a double cannot hold', () => {
  const fold = foldFacts([person('1', { account: new ExactNumber('1234567890123456789') })]);
  expect(listStored(fold, 'person')).toMatchObject([
    { set: [['account', expect.any(String), '1234567890123456789']] },
  ]);
});

test('a pair is kept once with its first time, and marks its user', () => {
  const pair = (day: number): IdentityFact => ({
    kind: 'pair',
    anonId: 'd1',
    userId: 'u1',
    time: `2023-01-0${day}T00:00:00.000Z`,
  });
  expect([...foldFacts([pair(2), pair(1), pair(3)]).takeStored()]).toEqual([
    { kind: 'pair', anonId: 'd1', userId: 'u1', time: '2023-01-01T00:00:00.000Z' },
    { kind: 'user', id: 'u1' },
  ]);
});

test('an id paired with itself is a user and no pair', () => {
  const fold = foldFacts([{ kind: 'pair', anonId: 'x', userId: 'x', time: '2023-01-01T00:00:00.000Z' }]);
  expect([...fold.takeStored()]).toEqual([{ kind: 'user', id: 'x' }]);
});

test('group types and keys that read alike when joined stay two groups', () => {
  const group = (groupType: string, groupKey: string): IdentityFact => ({
    kind: 'group',
    groupType,
    groupKey,
    time: '2023-01-01T00:00:00.000Z',
    set: {},
  });
  expect(listStored(foldFacts([group('a', 'bc'), group('ab', 'c'), group('a', 'bc')]), 'group')).toHaveLength(
    2,
  );
});

test('an untouched fold has nothing to keep', () => {
  expect(new FactFold().size).toBe(0);
  expect(encode(new FactFold())).toEqual([]);
});
