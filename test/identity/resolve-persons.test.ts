import { expect, test } from 'vitest';
import { toHeardTime } from '../../src/contract/heard-time.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { resolvePersons } from '../../src/identity/resolve-persons.ts';
import { createPace } from '../../src/lib/async/pace.ts';
import { getBucket } from '../../src/state/bucket.ts';
import type { Merge } from '../../src/state/facts/resolved-facts.ts';
import { createTestLedger, openAtTurn, takeTestTurn } from './ledgers.ts';

const DAY = ['2023-01-01T00:00:00.000Z', '2023-01-02T00:00:00.000Z', '2023-01-03T00:00:00.000Z'] as const;

const pair = (anonId: string, userId: string, time: string = DAY[0]): IdentityFact => ({
  kind: 'pair',
  anonId,
  userId,
  time,
});
const person = (distinctId: string, set: Record<string, unknown>): IdentityFact => ({
  kind: 'person',
  distinctId,
  time: DAY[0],
  set,
});

async function resolve(...facts: readonly IdentityFact[]) {
  const turn = await takeTestTurn(createTestLedger(), facts);
  return { ...turn, persons: turn.facts.filter((fact) => fact.kind === 'person') };
}

test('an anonymous id seen with one user becomes that user, with all that was known of it', async () => {
  const { merges, persons, unmerged } = await resolve(
    pair('d1', 'u1', DAY[1]),
    pair('d1', 'u1', DAY[0]),
    person('d1', { locale: 'de' }),
    person('u1', { plan: 'team' }),
  );
  expect(merges).toEqual([['u1', 'd1', DAY[0]]]);
  expect(persons).toMatchObject([
    {
      id: 'u1',
      set: [
        { key: 'locale', time: DAY[0], text: '"de"' },
        { key: 'plan', time: DAY[0], text: '"team"' },
      ],
    },
  ]);
  expect(unmerged).toEqual([]);
});

test.each([
  ['records', DAY[0], DAY[1], DAY[0]],
  ['the vendor', DAY[1], DAY[0], DAY[0]],
  ['the only one that counts', toHeardTime(DAY[0]), DAY[1], DAY[1]],
])('a user whom records and the vendor name is merged with the time of %s', async (_, paired, said, time) => {
  const known = new FactFold();
  known.addStored({ kind: 'pair', anonId: 'd1', userId: 'u1', time: paired });
  known.addStored({ kind: 'verdict', anonId: 'd1', userId: 'u1', time: said });
  const ledger = createTestLedger();
  const merges: Merge[] = [];
  const sink = {
    merge: (merge: Merge) => void merges.push(merge),
    ...{ fact() {}, unmerged() {}, lateMerge() {}, mergedBefore() {}, vendorActive() {}, chosen() {} },
    contradictedUser() {},
  };
  const tables = await ledger.ids.load([getBucket('d1')]);
  await resolvePersons(known, openAtTurn(ledger, 1), tables, sink, createPace());
  expect(merges).toEqual([['u1', 'd1', time]]);
});

test('two devices of one user are both merged', async () => {
  expect((await resolve(pair('d1', 'u1'), pair('d2', 'u1'))).merges).toHaveLength(2);
});

test('a device with two users is merged into neither, and reported with both, earliest first', async () => {
  const { merges, persons, unmerged } = await resolve(
    pair('tablet', 'zed', DAY[0]),
    pair('tablet', 'amy', DAY[1]),
    person('tablet', { locale: 'de' }),
  );
  expect(merges).toEqual([]);
  expect(persons).toMatchObject([{ id: 'tablet' }]);
  expect(unmerged).toEqual([{ reason: 'shared_device', id: 'tablet', users: ['zed', 'amy'], userCount: 2 }]);
});

test('an anonymous id that is also a user id is left alone, so no chain and no circle can arise', async () => {
  const chain = await resolve(pair('a', 'b'), pair('b', 'c'));
  expect(chain.merges).toMatchObject([['b', 'a', DAY[0]]]);
  expect(chain.unmerged).toMatchObject([{ reason: 'already_identified', id: 'b' }]);

  const circle = await resolve(pair('a', 'b'), pair('b', 'a'));
  expect(circle.merges).toEqual([]);
  expect(circle.unmerged.map(({ id }) => id).sort()).toEqual(['a', 'b']);
});

test('an id that was a user of itself is not merged into another', async () => {
  const { merges, unmerged } = await resolve(pair('x', 'x'), pair('x', 'y'));
  expect(merges).toEqual([]);
  expect(unmerged).toMatchObject([{ reason: 'already_identified', id: 'x', users: ['y'] }]);
});

test.each(['null', 'Anonymous', '[object Object]', '0', ' '])(
  'the junk id %j is never merged, on either side',
  async (junk) => {
    expect((await resolve(pair(junk, 'u1'))).merges).toEqual([]);
    expect((await resolve(pair('d1', junk))).merges).toEqual([]);
    expect((await resolve(pair(junk, 'u1'))).unmerged).toMatchObject([{ reason: 'junk_id', id: junk }]);
    expect((await resolve(pair('d1', junk))).unmerged).toMatchObject([
      { reason: 'junk_id', id: 'd1', users: [junk] },
    ]);
  },
);

test('a junk user beside a real one does not keep a device from its user', async () => {
  const { merges, unmerged } = await resolve(pair('d1', 'undefined'), pair('d1', 'u1'));
  expect(merges).toMatchObject([['u1', 'd1', DAY[0]]]);
  expect(unmerged).toMatchObject([{ reason: 'junk_id', id: 'd1' }]);
});

test('what many visitors said under one junk id describes nobody, and is counted once', async () => {
  const alone = await resolve(person('anonymous', { plan: 'team' }));
  expect(alone.persons).toEqual([]);
  expect(alone.unmerged).toEqual([{ reason: 'junk_id', id: 'anonymous' }]);
  expect(
    (await resolve(person('anonymous', { plan: 'team' }), pair('anonymous', 'u1'))).unmerged,
  ).toHaveLength(1);
});

test('of a device with very many users only the first few are named', async () => {
  const pairs = Array.from({ length: 1_000 }, (_, number) => pair('kiosk', `u${1_000 + number}`));
  expect((await resolve(...pairs)).unmerged).toEqual([
    {
      reason: 'shared_device',
      id: 'kiosk',
      users: ['u1000', 'u1001', 'u1002', 'u1003', 'u1004'],
      userCount: 1_000,
    },
  ]);
});
