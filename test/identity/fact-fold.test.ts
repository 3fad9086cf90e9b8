import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeferredValues, type IdentityFact, readValues } from '../../src/contract/identity-fact.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { canonicalJson } from '../../src/lib/json/canonical-json.ts';
import { ExactNumber } from '../../src/lib/json/exact-number.ts';
import type { TextBuffer } from '../../src/lib/text-buffer.ts';
import { parseStoredFact, type StoredFact } from '../../src/state/facts/fact-line.ts';
import { listLines, renderFact, toWritable } from '../state/facts/lines.ts';
import { anyFact, anySnapshot, listProperties } from './facts.ts';

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

const encode = (fold: FactFold) => listLines(fold);

const some = fc.oneof(fc.array(anyFact), fc.array(anySnapshot));
const three = fc.tuple(some, some, some);

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
    fc.property(some, (facts) => {
      expect(encode(foldFacts([...facts].reverse()))).toEqual(encode(foldFacts(facts)));
    }),
  );
});

class LateValues extends DeferredValues {
  readonly keys: ReadonlySet<string>;
  readonly values: Readonly<Record<string, unknown>>;

  constructor(keys: ReadonlySet<string>, values: Readonly<Record<string, unknown>>) {
    super();
    this.keys = keys;
    this.values = values;
  }

  override write(out: TextBuffer): void {
    out.write(canonicalJson(this.values));
  }
}

test('values that are read late fold as those that are there', () => {
  const shared = new Map<string, ReadonlySet<string>>();
  const defer = (values: Parameters<typeof readValues>[0] | undefined) => {
    if (values === undefined) return undefined;
    const plain = readValues(values);
    const keys = Object.keys(plain);
    const same = shared.get(keys.join()) ?? new Set(keys);
    shared.set(keys.join(), same);
    return new LateValues(same, plain);
  };
  fc.assert(
    fc.property(some, fc.array(fc.boolean()), (facts, isLate) => {
      const late = facts.map((fact, at) =>
        fact.kind === 'person' && isLate[at] !== false
          ? { ...fact, set: defer(fact.set), setOnce: defer(fact.setOnce) }
          : fact,
      );
      expect(encode(foldFacts(late))).toEqual(encode(foldFacts(facts)));
    }),
  );
});

test('a fold writes the lines of all its facts', () => {
  fc.assert(
    fc.property(fc.array(anyFact), (facts) => {
      expect(listLines(foldFacts(facts))).toEqual(listLines(toWritable(foldFacts(facts).takeStored())));
    }),
  );
});

test('a line holds all of its fact', () => {
  fc.assert(
    fc.property(some, (facts) => {
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

/** An id of which nothing is known. */
const nothing = { kind: 'id', isUser: false, active: undefined, pairs: [], properties: '0' } as const;

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
  expect(listStored(fold, 'id')).toEqual([
    {
      ...nothing,
      id: 'u1',
      properties: expect.any(String),
      set: [
        { key: 'old', time: '2023-01-01T00:00:00.000Z', text: 'true' },
        { key: 'plan', time: '2023-01-03T00:00:00.000Z', text: '"business"' },
      ],
      setOnce: [{ key: 'first_seen', time: '2023-01-01T00:00:00.000Z', text: '"first"' }],
    },
  ]);
});

test('of two values at the same time the greater text wins in either order', () => {
  const a = person('1', { plan: 'a' });
  const b = person('1', { plan: 'b' });
  for (const fold of [foldFacts([a, b]), foldFacts([b, a])]) {
    expect(listStored(fold, 'id')).toMatchObject([
      { set: [{ key: 'plan', time: '2023-01-01T00:00:00.000Z', text: '"b"' }] },
    ]);
  }
});

test('null is a value, undefined is none', () => {
  const fold = foldFacts([person('1', { plan: null, gone: undefined })]);
  expect(listStored(fold, 'id')).toMatchObject([
    { set: [{ key: 'plan', time: '2023-01-01T00:00:00.000Z', text: 'null' }] },
  ]);
});

test('a number keeps the digits that a double cannot hold', () => {
  const fold = foldFacts([person('1', { account: new ExactNumber('1234567890123456789') })]);
  expect(listStored(fold, 'id')).toMatchObject([
    { set: [{ key: 'account', time: expect.any(String), text: '1234567890123456789' }] },
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
    { ...nothing, id: 'u1', isUser: true },
    { ...nothing, id: 'd1', pairs: [['u1', '2023-01-01T00:00:00.000Z']] },
  ]);
});

test('an id paired with itself is a user and no pair', () => {
  const fold = foldFacts([{ kind: 'pair', anonId: 'x', userId: 'x', time: '2023-01-01T00:00:00.000Z' }]);
  expect([...fold.takeStored()]).toEqual([{ ...nothing, id: 'x', isUser: true }]);
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

test('all ids of a person of the vendor are one line, and all of an id is one', () => {
  const fold = new FactFold();
  const seen = (id: string, isUser: boolean, month: string) =>
    fold.addSeen({
      id,
      person: 'v1',
      isUser,
      beside: isUser ? 'd1' : undefined,
      time: `2023-${month}-01T00:00:00.000Z`,
    });
  seen('u1', true, '02');
  seen('d1', false, '01');
  seen('u1', true, '01');
  fold.addUser('u1');
  const jan = 2023 * 12;
  const stored = [...fold.takeStored()];
  expect(stored).toEqual([
    { ...nothing, id: 'u1', isUser: true, active: { isUser: true, months: [jan, jan + 1], besideUser: [] } },
    { ...nothing, id: 'd1', active: { isUser: false, months: [jan], besideUser: [jan, jan + 1] } },
    {
      kind: 'members',
      person: 'v1',
      members: [
        { id: 'd1', isUser: false, time: '2023-01-01T00:00:00.000Z', months: [jan] },
        { id: 'u1', isUser: true, time: '2023-01-01T00:00:00.000Z', months: [jan, jan + 1] },
      ],
    },
  ]);
  for (const fact of stored) expect(parseStoredFact(renderFact(fact))).toEqual(fact);
});

test('lines of an earlier version, each of which said one thing of an id, fold to the same', () => {
  const time = '2023-01-01T00:00:00.000Z';
  const fold = new FactFold();
  for (const line of [
    'u\t"d1"',
    `a\t"d1"\t"u1"\t${time}`,
    'm\t"d1"\t24277,24276\t24276',
    `p\t"d1"\t1\t${time}\t{"plan":"a"}`,
  ])
    fold.addStored(parseStoredFact(`00000000${line}`));
  expect([...fold.takeStored()]).toEqual([
    {
      kind: 'id',
      id: 'd1',
      isUser: true,
      active: { isUser: false, months: [24276, 24277], besideUser: [24276] },
      pairs: [['u1', time]],
      properties: `1\t${time}\t{"plan":"a"}`,
    },
  ]);
});

test('an untouched fold has nothing to keep', () => {
  expect(new FactFold().size).toBe(0);
  expect(encode(new FactFold())).toEqual([]);
});

test('an id with more users than are kept says so, in whatever order and however often its facts are folded', () => {
  const visits = Array.from(
    { length: 10_001 },
    (_, at): Extract<StoredFact, { kind: 'pair' }> => ({
      kind: 'pair',
      anonId: 'kiosk',
      userId: `user-${at}`,
      time: `2023-01-0${1 + (at % 9)}`,
    }),
  );
  const fold = (facts: Iterable<StoredFact>) => {
    const folded = new FactFold();
    for (const fact of facts) folded.addStored(fact);
    return folded;
  };
  const [first] = visits;
  if (!first) throw new Error('there are visits');
  for (const facts of [visits, visits.toReversed(), [...visits, ...visits]])
    expect(fold(fold(facts).takeStored()).ids.get('kiosk')?.hasTooMany).toBe(true);
  const most = fold([...visits.slice(1), ...visits.slice(1), { ...first, userId: 'user-1', time: '2022' }]);
  expect(most.ids.get('kiosk')?.hasTooMany).toBe(false);
  expect(most.ids.get('kiosk')?.pairs?.map.get('user-1')).toBe('2022');
});
