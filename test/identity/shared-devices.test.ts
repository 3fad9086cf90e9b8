import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IdentityFact, PairFact } from '../../src/contract/identity-fact.ts';
import { createTestLedger, type TestTurn, takeTestTurn } from './ledgers.ts';

/** A device that two users signed in on: whose events before a sign-in are, nobody knows. */

const pair = (anonId: string, userId: string, minute: number): PairFact => ({
  kind: 'pair',
  anonId,
  userId,
  time: `2023-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`,
});
const listMerges = ({ merges }: TestTurn) => merges.map(([userId, anonId]) => `${anonId} → ${userId}`);

const shared = [
  pair('tablet', 'ada', 3),
  pair('tablet', 'bob', 1),
  pair('tablet', 'cy', 2),
  pair('phone', 'ada', 1),
];

describe('a device of several users', () => {
  it.each([
    ['none', ['phone → ada'], 0, ['shared_device']],
    ['first', ['phone → ada', 'tablet → bob'], 1, []],
    ['last', ['phone → ada', 'tablet → ada'], 1, []],
  ] as const)('is merged as people.sharedDevices says: %s', async (policy, merges, chosen, unmerged) => {
    const turn = await takeTestTurn(createTestLedger(policy), shared);
    expect(listMerges(turn).sort()).toEqual([...merges].sort());
    expect(turn.chosen).toBe(chosen);
    expect(turn.unmerged.map(({ reason }) => reason)).toEqual(unmerged);
  });

  it('is decided by source times alone, whatever order and cut the facts have', async () => {
    const anyPair = fc
      .tuple(fc.constantFrom('d1', 'd2'), fc.constantFrom('a', 'b', 'c', 'null'), fc.nat(5))
      .map(([anonId, userId, minute]) => pair(anonId, userId, minute));
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyPair, { maxLength: 8 }),
        fc.constantFrom('first', 'last'),
        async (facts, policy) => {
          const one = await takeTestTurn(createTestLedger(policy), facts);
          const other = await takeTestTurn(createTestLedger(policy), [...facts, ...facts].reverse());
          expect(listMerges(other).sort()).toEqual(listMerges(one).sort());
        },
      ),
    );
  });

  it.each(['first', 'last'] as const)(
    'stays unmerged where it has more users than can be put in order: %s',
    async (policy) => {
      const visit = (at: number): PairFact => ({
        ...pair('kiosk', `user-${at}`, 0),
        time: new Date(Date.UTC(2023, 0, 1) + at).toISOString(),
      });
      const visits = Array.from({ length: 10_001 }, (_, at) => visit(at));
      const ledger = createTestLedger(policy);
      const turn = await takeTestTurn(ledger, visits);
      expect(listMerges(turn)).toEqual([]);
      expect(turn.unmerged).toMatchObject([{ reason: 'shared_device', id: 'kiosk' }]);
      // For good, also by facts that name a few of them.
      expect(listMerges(await takeTestTurn(ledger, visits.slice(0, 2)))).toEqual([]);
      expect(listMerges(await takeTestTurn(createTestLedger(policy), visits.slice(1)))).toEqual([
        `kiosk → user-${policy === 'first' ? 1 : 10_000}`,
      ]);
    },
  );

  it('stays with the user that it was merged into, and what is said about it goes there', async () => {
    const ledger = createTestLedger('first');
    await takeTestTurn(ledger, [pair('tablet', 'bob', 5)]);
    const said: IdentityFact = {
      kind: 'person',
      distinctId: 'tablet',
      time: '2023-01-02T00:00:00.000Z',
      set: { plan: 'gold' },
    };
    const later = await takeTestTurn(ledger, [pair('tablet', 'ada', 1), said]);
    expect(later.merges).toEqual([]);
    expect(later.mergedBefore).toBe(1);
    expect(later.unmerged).toMatchObject([{ reason: 'merged_otherwise', id: 'tablet', users: ['ada'] }]);
    expect(later.events).toMatchObject([
      { properties: { distinct_id: 'tablet', $set_once: { plan: 'gold' } } },
    ]);
  });

  it('stays with the user that it was merged into, and nothing of that user goes to another one', async () => {
    const ledger = createTestLedger('first');
    await takeTestTurn(ledger, [pair('tablet', 'bob', 1)]);
    const say = (distinctId: string, set: Record<string, string>): IdentityFact => ({
      kind: 'person',
      distinctId,
      time: '2023-01-02T00:00:00.000Z',
      set,
    });
    const later = await takeTestTurn(ledger, [
      pair('tablet', 'ada', 2),
      say('tablet', { plan: 'gold' }),
      say('bob', { email: 'bob@shop.test' }),
      say('ada', { email: 'ada@shop.test' }),
    ]);
    const sent = later.events.map(({ properties }) => [properties['distinct_id'], properties['$set_once']]);
    expect(new Map(sent as [string, unknown][])).toEqual(
      new Map([
        ['bob', { plan: 'gold', email: 'bob@shop.test' }],
        ['ada', { email: 'ada@shop.test' }],
      ]),
    );
  });

  it('is merged into nobody else where an earlier turn may have sent it', async () => {
    const ledger = createTestLedger('first');
    const first = [pair('tablet', 'bob', 1)];
    expect(listMerges(await takeTestTurn(ledger, first, { end: false }))).toEqual(['tablet → bob']);
    const between = await takeTestTurn(ledger, [pair('tablet', 'ada', 2)]);
    expect(listMerges(between)).toEqual([]);
    expect(between.unmerged.map(({ reason }) => reason)).toEqual(['shared_device']);
    // Whose it is by all facts, those at hand do not say.
    expect(listMerges(await takeTestTurn(ledger, first))).toEqual([]);
    expect(listMerges(await takeTestTurn(ledger, [...first, pair('tablet', 'ada', 2)]))).toEqual([
      'tablet → bob',
    ]);
  });

  it('decides the same again in a turn that is continued', async () => {
    const ledger = createTestLedger('last');
    const first = await takeTestTurn(ledger, shared, { end: false });
    const again = await takeTestTurn(ledger, shared, { turn: 1 });
    expect(again.merges).toEqual(first.merges);
    expect(again.events).toEqual(first.events);
  });

  it('stays unmerged where another migration saw a user of whom nobody knows the time', async () => {
    const ledger = createTestLedger('first');
    await takeTestTurn(ledger, [pair('tablet', 'bob', 5)], { purpose: 'note' });
    const later = await takeTestTurn(ledger, [pair('tablet', 'ada', 1)]);
    expect(later.merges).toEqual([]);
    expect(later.unmerged.map(({ reason }) => reason)).toEqual(['shared_device']);
  });

  it('is merged when what was held is sent', async () => {
    const ledger = createTestLedger('first');
    await takeTestTurn(ledger, shared, { purpose: 'note' });
    expect(listMerges(await takeTestTurn(ledger, shared))).toContain('tablet → bob');
  });

  it.each([
    ['first', 'tablet → bob'],
    ['last', 'tablet → ada'],
  ] as const)('is the %s one of all exports that were held and are sent together', async (policy, merge) => {
    const ledger = createTestLedger(policy);
    const exports = [[pair('tablet', 'ada', 5)], [pair('tablet', 'bob', 1)], [pair('tablet', 'cy', 2)]];
    for (const facts of exports) await takeTestTurn(ledger, facts, { purpose: 'note' });
    expect(listMerges(await takeTestTurn(ledger, exports.flat()))).toEqual([merge]);
  });

  it('stays unmerged where a user that is held came to it at another time than is said here', async () => {
    const ledger = createTestLedger('first');
    const held = [pair('tablet', 'bob', 4), pair('tablet', 'ada', 2)];
    await takeTestTurn(ledger, held, { purpose: 'note' });
    const sent = [pair('tablet', 'ada', 8), pair('tablet', 'cy', 6)];
    expect(listMerges(await takeTestTurn(ledger, sent))).toEqual([]);
    // Known with all of their times, they are in order again.
    expect(listMerges(await takeTestTurn(ledger, [...held, ...sent]))).toEqual(['tablet → ada']);
  });

  it('is of the last one by the first time of each, whichever migration says it', async () => {
    const ledger = createTestLedger('last');
    const held = [pair('tablet', 'ada', 8), pair('tablet', 'bob', 7)];
    await takeTestTurn(ledger, held, { purpose: 'note' });
    // By now bob came to it after ada.
    expect(listMerges(await takeTestTurn(ledger, [pair('tablet', 'ada', 5)]))).toEqual([]);
    const all = await takeTestTurn(ledger, [...held, pair('tablet', 'ada', 9)]);
    expect(listMerges(all)).toEqual(['tablet → bob']);
  });

  it('is never merged where it is a user itself', async () => {
    const turn = await takeTestTurn(createTestLedger('first'), [...shared, pair('x', 'tablet', 1)]);
    expect(listMerges(turn)).not.toContain('tablet → bob');
    expect(turn.unmerged.map(({ reason }) => reason)).toContain('already_identified');
  });
});
