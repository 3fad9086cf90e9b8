import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TargetEvent } from '../../src/contract/event.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { FencedOutError } from '../../src/lib/errors.ts';
import { stringifyJson } from '../../src/lib/json/stringify-json.ts';
import { anyFact } from './facts.ts';
import { createTestLedger, type TestTurn, takeTestTurn } from './ledgers.ts';
import { createLiveSubjects } from './live-subjects.ts';

/** What one migration with all of these facts would do. */
const takeAll = (facts: readonly IdentityFact[], overwrite = false) =>
  takeTestTurn(createTestLedger(), facts, { overwrite });

const listMerges = ({ merges }: TestTurn) => merges.map(([userId, anonId]) => `${anonId} → ${userId}`).sort();
const listEvents = (events: readonly TargetEvent[]) => events.map((event) => stringifyJson(event)).sort();
const listContradicted = ({ unmerged }: TestTurn) =>
  unmerged.filter(({ reason }) => reason === 'contradicted_merge').map(({ id }) => id);

/** The facts of some migrations, in the order in which these decide. */
const migrations = fc.array(fc.array(anyFact, { maxLength: 12 }), { minLength: 1, maxLength: 5 });

/** Migrations of which each says what is newer than all before it, within one day: values come back. */
const inOrder = fc
  .array(
    fc.record({
      said: fc.array(
        fc.record({
          of: fc.constantFrom('person', 'group'),
          id: fc.constantFrom('u1', 'u2'),
          set: fc.dictionary(fc.constantFrom('plan', 'seats'), fc.constantFrom('a', 'b'), { maxKeys: 2 }),
        }),
        { maxLength: 4 },
      ),
      isLost: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  )
  .map((all) =>
    all.map(({ said, isLost }, hour) => ({
      isLost,
      facts: said.map(({ of, id, set }): IdentityFact => {
        const time = `2023-01-01T0${hour}:00:00.000Z`;
        return of === 'person'
          ? { kind: 'person', distinctId: id, time, set }
          : { kind: 'group', groupType: 'company', groupKey: id, time, set };
      }),
    })),
  );

describe('a ledger over several migrations', () => {
  it('never lets one merge what all facts known by then forbid, and reports each merge that later ones forbid', async () => {
    await fc.assert(
      fc.asyncProperty(migrations, async (all) => {
        const ledger = createTestLedger();
        const sent = new Set<string>();
        const contradicted = new Set<string>();
        for (const [index, facts] of all.entries()) {
          const turn = await takeTestTurn(ledger, facts);
          const allowed = listMerges(await takeAll(all.slice(0, index + 1).flat()));
          expect(listMerges(turn)).toEqual(allowed.filter((merge) => !sent.has(merge)));
          for (const merge of listMerges(turn)) sent.add(merge);
          for (const id of listContradicted(turn)) contradicted.add(id);
        }
        const held = new Set(listMerges(await takeAll(all.flat())));
        const wrong = [...sent].filter((merge) => !held.has(merge)).map((merge) => merge.split(' → ')[0]);
        expect(contradicted).toEqual(new Set(wrong));
      }),
      { numRuns: 150 },
    );
  });

  it('lets held ones do together exactly what one migration with all of their facts does', async () => {
    await fc.assert(
      fc.asyncProperty(migrations, fc.boolean(), async (all, overwrite) => {
        const ledger = createTestLedger();
        for (const facts of all) {
          const held = await takeTestTurn(ledger, facts, { purpose: 'note' });
          expect(held.merges).toEqual([]);
        }
        const together = await takeTestTurn(ledger, all.flat(), { overwrite });
        const whole = await takeAll(all.flat(), overwrite);
        expect(listEvents(together.events)).toEqual(listEvents(whole.events));
        expect(together.unmerged).toEqual(whole.unmerged);
      }),
      { numRuns: 80 },
    );
  });

  it('lets a replay of some of the facts send nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFact, { maxLength: 30 }),
        fc.array(fc.nat(29)),
        fc.boolean(),
        async (facts, picks, overwrite) => {
          const ledger = createTestLedger();
          await takeTestTurn(ledger, facts, { overwrite });
          const some = picks.flatMap((pick) => facts[pick] ?? []);
          expect((await takeTestTurn(ledger, some, { overwrite })).events).toEqual([]);
        },
      ),
      { numRuns: 80 },
    );
  });

  it('gives a turn that is taken again after a crash the same result', async () => {
    await fc.assert(
      fc.asyncProperty(migrations, fc.boolean(), async (all, overwrite) => {
        const ledger = createTestLedger();
        const last = all.at(-1) ?? [];
        for (const facts of all.slice(0, -1)) await takeTestTurn(ledger, facts, { overwrite });
        const first = await takeTestTurn(ledger, last, { overwrite, end: false });
        const again = await takeTestTurn(ledger, last, { overwrite, turn: ledger.last });
        expect(again).toEqual(first);
      }),
      { numRuns: 80 },
    );
  });

  it('leaves the values of one migration over all facts where they come in the order of their time', async () => {
    await fc.assert(
      fc.asyncProperty(inOrder, async (all) => {
        const ledger = createTestLedger();
        const live = createLiveSubjects();
        for (const { facts, isLost } of all) {
          // Interrupted after it was entered and before anything was sent, and decided again in another turn.
          if (isLost) await takeTestTurn(ledger, facts, { overwrite: true, end: false });
          live.take((await takeTestTurn(ledger, facts, { overwrite: true })).events);
        }
        const whole = createLiveSubjects();
        whole.take(
          (
            await takeAll(
              all.flatMap(({ facts }) => facts),
              true,
            )
          ).events,
        );
        expect(live.list()).toEqual(whole.list());
      }),
      { numRuns: 150 },
    );
  });

  it('never replaces a newer value by an older one, in whatever order they come', async () => {
    await fc.assert(
      fc.asyncProperty(migrations, async (all) => {
        const ledger = createTestLedger();
        const times = new Map<string, string>();
        for (const facts of all) {
          const turn = await takeTestTurn(ledger, facts, { overwrite: true });
          for (const fact of turn.facts) {
            const replaced = new Set(
              turn.events.flatMap(({ properties }) =>
                properties.distinct_id === ('id' in fact ? fact.id : '')
                  ? Object.keys((properties['$set'] as object | undefined) ?? {})
                  : [],
              ),
            );
            for (const { key, time } of 'set' in fact ? fact.set : []) {
              if (!replaced.has(key)) continue;
              const before = times.get(`${fact.of} ${key}`);
              if (before !== undefined) expect(time > before).toBe(true);
              times.set(`${fact.of} ${key}`, time);
            }
          }
        }
      }),
      { numRuns: 80 },
    );
  });
});

const DAY = ['2021-01-01T00:00:00.000Z', '2022-01-01T00:00:00.000Z', '2023-01-01T00:00:00.000Z'] as const;
const pair = (anonId: string, userId: string, time: string = DAY[0]): IdentityFact => ({
  kind: 'pair',
  anonId,
  userId,
  time,
});
const person = (distinctId: string, set: Record<string, unknown>, time: string = DAY[0]): IdentityFact => ({
  kind: 'person',
  distinctId,
  time,
  set,
});

describe('merges', () => {
  it('of a device that another migration knows as shared are not sent when one record is replayed', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [pair('tablet', 'alice'), pair('tablet', 'bob'), pair('tablet', 'carol')]);
    const replay = await takeTestTurn(ledger, [pair('tablet', 'alice', DAY[2])]);
    expect(replay.merges).toEqual([]);
    expect(replay.unmerged).toEqual([
      { reason: 'shared_device', id: 'tablet', users: ['alice'], userCount: 1 },
    ]);
  });

  it('that were sent before are counted, and not sent again', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [pair('d1', 'u1')]);
    expect(await takeTestTurn(ledger, [pair('d1', 'u1', DAY[1])])).toMatchObject({
      merges: [],
      unmerged: [],
      mergedBefore: 1,
    });
  });

  it('that a turn which never ended has entered are sent by the next one that has them', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [pair('d1', 'u1')], { end: false });
    expect(listMerges(await takeTestTurn(ledger, [pair('d1', 'u1')]))).toEqual(['d1 → u1']);
  });

  it('that were sent and do not hold any more are reported, with the users that the new facts name', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [pair('tablet', 'alice')]);
    const later = await takeTestTurn(ledger, [pair('tablet', 'bob'), person('tablet', { plan: 'b' })]);
    expect(later.unmerged).toEqual([
      { reason: 'contradicted_merge', id: 'tablet', users: ['bob'], userCount: 1 },
    ]);
    expect(later.events).toEqual([]); // the tablet is alice by now, of whom its properties may not speak
    const user = await takeTestTurn(ledger, [pair('tablet', 'tablet')]);
    expect(user.unmerged).toMatchObject([{ reason: 'contradicted_merge', id: 'tablet', userCount: 0 }]);
  });

  it('are not sent at all once the ledger was forgotten, and say so', async () => {
    const ledger = createTestLedger();
    ledger.isForgotten = true;
    const { merges, unmerged } = await takeTestTurn(ledger, [pair('d1', 'u1')]);
    expect(merges).toEqual([]);
    expect(unmerged).toEqual([{ reason: 'ledger_forgotten', id: 'd1', users: ['u1'], userCount: 1 }]);
  });

  it('that were decided without a ledger count as sent, though others knew better', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [pair('tablet', 'bob')], { purpose: 'note' });
    await takeTestTurn(ledger, [pair('tablet', 'alice')], { purpose: 'take_in' });
    const later = await takeTestTurn(ledger, [pair('tablet', 'alice')]);
    expect(later.unmerged).toMatchObject([{ reason: 'contradicted_merge', id: 'tablet' }]);
    await takeTestTurn(ledger, [pair('phone', 'alice')], { purpose: 'take_in' });
    expect(await takeTestTurn(ledger, [pair('phone', 'alice')])).toMatchObject({ mergedBefore: 1 });
  });
});

describe('properties', () => {
  it('of an id whose merge the ledger alone knows are compared with those of its person', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [pair('d1', 'u1'), person('d1', { plan: 'new' }, DAY[1])], {
      overwrite: true,
    });
    const older = await takeTestTurn(ledger, [person('d1', { plan: 'old' }, DAY[0])], { overwrite: true });
    expect(older.events).toEqual([]);
    const newer = await takeTestTurn(ledger, [person('d1', { plan: 'newest' }, DAY[2])], { overwrite: true });
    expect(newer.events).toMatchObject([{ properties: { distinct_id: 'd1', $set: { plan: 'newest' } } }]);
  });

  it('go under the id of the person where both it and a merged one are known', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [pair('d1', 'u1'), pair('a1', 'u1')]);
    const { events } = await takeTestTurn(ledger, [
      person('d1', { a: 1 }, DAY[1]),
      person('u1', { b: 2 }, DAY[2]),
      person('a1', { c: 3 }, DAY[2]),
    ]);
    expect(events).toMatchObject([{ properties: { distinct_id: 'u1', $set_once: { a: 1, b: 2, c: 3 } } }]);
  });

  it('older than what was sent under an id before it was merged replace nothing of the person', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [person('d1', { plan: 'new' }, DAY[1])], { overwrite: true });
    const merging = [pair('d1', 'u1'), person('u1', { plan: 'old' }, DAY[0])];
    const first = await takeTestTurn(ledger, merging, { overwrite: true, end: false });
    expect(first.events.map(({ properties }) => properties)).toMatchObject([
      { $anon_distinct_id: 'd1' },
      { distinct_id: 'u1', $set_once: { plan: 'old' } },
    ]);
    expect(first.events.some(({ properties }) => '$set' in properties)).toBe(false);
    expect(await takeTestTurn(ledger, merging, { overwrite: true, turn: ledger.last })).toEqual(first);
    const later = await takeTestTurn(
      ledger,
      [person('u1', { seats: 1 }, DAY[0]), person('u1', { plan: 'newest' }, DAY[2])],
      { overwrite: true },
    );
    expect(later.events).toMatchObject([
      { properties: { $set: { plan: 'newest' }, $set_once: { seats: 1 } } },
    ]);
  });

  it('that only filled gaps are sent again where they are to replace live ones', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [person('u1', { plan: 'team' })]);
    const again = await takeTestTurn(ledger, [person('u1', { plan: 'team' })], { overwrite: true });
    expect(again.events).toMatchObject([{ properties: { $set: { plan: 'team' } } }]);
  });

  it('that fill gaps alone are sent once, whatever another top-up says of them', async () => {
    const ledger = createTestLedger();
    const about = (set: Record<string, unknown>, time: string): IdentityFact[] => [
      person('u1', set, time),
      { kind: 'person', distinctId: 'u1', time, setOnce: { source: time } },
    ];
    expect((await takeTestTurn(ledger, about({ plan: 'free' }, DAY[0]))).events).toMatchObject([
      { properties: { $set_once: { plan: 'free', source: DAY[0] } } },
    ]);
    expect((await takeTestTurn(ledger, about({ plan: 'free' }, DAY[1]))).events).toEqual([]);
    const more = about({ plan: 'team', seats: 1 }, DAY[2]);
    const crashed = await takeTestTurn(ledger, more, { end: false });
    const again = await takeTestTurn(ledger, more, { turn: ledger.last });
    for (const { events } of [crashed, again])
      expect(events.map(({ properties }) => properties['$set_once'])).toEqual([{ seats: 1 }]);
    // What is live is the first value: a migration that replaces sends what is newer than that, and nothing older.
    const older = await takeTestTurn(ledger, [person('u1', { plan: 'old' }, '2020-01-01T00:00:00.000Z')], {
      overwrite: true,
    });
    expect(older.events).toEqual([]);
    const newer = await takeTestTurn(ledger, [person('u1', { plan: 'basic' }, DAY[1])], { overwrite: true });
    expect(newer.events).toMatchObject([{ properties: { $set: { plan: 'basic' } } }]);
  });

  it('that fill gaps alone are sent once also behind a turn that replaces and never ended', async () => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, [person('u1', { plan: 'free' }, DAY[0])]);
    await takeTestTurn(ledger, [person('u1', { plan: 'pro' }, DAY[1])], { overwrite: true, end: false });
    const filled = await takeTestTurn(ledger, [person('u1', { plan: 'team' }, DAY[2])]);
    expect(filled.events).toEqual([]);
  });

  it('that were too large for an event are sent once they fit', async () => {
    const ledger = createTestLedger();
    const about = (note: string): IdentityFact[] => [
      { kind: 'person', distinctId: 'ada', time: DAY[0], set: { note } },
      { kind: 'group', groupType: 'company', groupKey: 'acme', time: DAY[0], set: { note } },
    ];
    const large = about('x'.repeat(300));
    expect((await takeTestTurn(ledger, large, { overwrite: true, maxBytes: 200 })).events).toEqual([]);
    expect((await takeTestTurn(ledger, large, { overwrite: true })).events).toHaveLength(2);
    expect((await takeTestTurn(ledger, large, { overwrite: true })).events).toEqual([]);
  });

  it('of a value that came back are told apart from its first event, and those of first values are not', async () => {
    const ledger = createTestLedger();
    const take = async (plan: string, hour: number, options: object = {}) =>
      (
        await takeTestTurn(ledger, [person('u1', { plan }, `2021-01-01T${hour}:00:00.000Z`)], {
          overwrite: true,
          ...options,
        })
      ).sent.map(({ uuid }) => uuid);
    const first = await take('free', 10);
    expect(first).toEqual(['07d0131b-deca-5b64-8033-5cedca722f15']);
    await take('paid', 11);
    const back = await take('free', 12, { end: false });
    expect(back).not.toEqual(first);
    expect(await take('free', 12, { turn: ledger.last, end: false })).toEqual(back);
    expect(await take('free', 12)).toEqual(back); // in another turn, because the first has not ended
  });

  it('of a group replace older ones alone, and a bare group is sent once', async () => {
    const ledger = createTestLedger();
    const group = (seats: number | undefined, time: string): IdentityFact => ({
      kind: 'group',
      groupType: 'company',
      groupKey: 'acme',
      time,
      set: seats === undefined ? {} : { seats },
    });
    expect((await takeTestTurn(ledger, [group(2, DAY[1])])).events).toHaveLength(1);
    expect((await takeTestTurn(ledger, [group(1, DAY[0])])).events).toEqual([]);
    expect((await takeTestTurn(ledger, [group(undefined, DAY[2])])).events).toEqual([]);
    expect((await takeTestTurn(ledger, [group(3, DAY[2])])).events).toMatchObject([
      { properties: { $group_set: { seats: 3 } } },
    ]);
  });
});

describe('groups in events of several names', () => {
  const group = (time: string, set: object): IdentityFact => ({
    kind: 'group',
    groupType: 'company',
    groupKey: 'acme',
    time,
    set: { ...set },
  });
  const OTHER = { groupIdentifyEvent: '$groupidentify' };
  const listSent = ({ events }: TestTurn) =>
    events.map(({ event, properties }) => [event, properties['$group_set']]);

  it.each([3, 4] as const)(
    'what was sent in events of one name is not known in those of another (form %i)',
    async (form) => {
      const ledger = createTestLedger('none', form);
      const first = await takeTestTurn(ledger, [group(DAY[1], { seats: 2 })]);
      expect(listSent(first)).toEqual([['$group_identify', { seats: 2 }]]);
      const other = await takeTestTurn(ledger, [group(DAY[1], { seats: 2 })], OTHER);
      expect(listSent(other)).toEqual([['$groupidentify', { seats: 2 }]]);
      for (const options of [OTHER, {}])
        expect((await takeTestTurn(ledger, [group(DAY[0], { seats: 1 })], options)).events).toEqual([]);
      const third = await takeTestTurn(ledger, [group(DAY[2], { seats: 3 })], OTHER);
      expect(listSent(third)).toEqual([['$groupidentify', { seats: 3 }]]);
    },
  );

  it('a bare group is sent once in those of each', async () => {
    const ledger = createTestLedger();
    const sent = [];
    for (const options of [{}, OTHER, {}, OTHER])
      sent.push(...listSent(await takeTestTurn(ledger, [group(DAY[0], {})], options)));
    expect(sent.map(([event]) => event)).toEqual(['$group_identify', '$groupidentify']);
  });

  it('a property that was too large for an event of another name is sent once it fits', async () => {
    const ledger = createTestLedger();
    const facts = [group(DAY[1], { note: 'x'.repeat(200) })];
    expect((await takeTestTurn(ledger, facts, { ...OTHER, maxBytes: 100 })).events).toEqual([]);
    expect((await takeTestTurn(ledger, facts, OTHER)).events).toHaveLength(1);
  });

  it.each([1, 2] as const)(
    'a ledger with hashes of form %i knows what it was told under any name',
    async (form) => {
      const ledger = createTestLedger('none', form);
      expect((await takeTestTurn(ledger, [group(DAY[1], { seats: 2 })], OTHER)).events).toHaveLength(1);
      expect((await takeTestTurn(ledger, [group(DAY[0], { seats: 1 })], OTHER)).events).toEqual([]);
      expect((await takeTestTurn(ledger, [group(DAY[0], { seats: 1 })])).events).toEqual([]);
      expect((await takeTestTurn(ledger, [group(DAY[1], { seats: 2 })])).events).toEqual([]);
    },
  );
});

describe('a process that slept while a later turn came', () => {
  const time = '2023-01-01T00:00:00.000Z';
  const pair: IdentityFact = { kind: 'pair', anonId: 'device', userId: 'user', time };
  const set: IdentityFact = { kind: 'person', distinctId: 'user', time, set: { plan: 'x' } };

  it.each([
    ['merge', [pair]],
    ['property', [set]],
  ])('enters no %s that it has entered', async (_, facts) => {
    const ledger = createTestLedger();
    await takeTestTurn(ledger, facts, { turn: 2, end: false });
    await expect(takeTestTurn(ledger, facts, { turn: 1 })).rejects.toThrow(FencedOutError);
    // The turn itself is continued, and one above it is not late.
    await takeTestTurn(ledger, facts, { turn: 2, end: false });
    expect((await takeTestTurn(ledger, facts, { turn: 3 })).sent).toHaveLength(1);
  });
});
