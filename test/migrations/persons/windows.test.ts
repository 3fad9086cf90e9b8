import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Window } from '../../../src/pipeline/limit-to-window.ts';
import { createPersonsBench, type PersonsBench } from './persons-bench.ts';
import { createPersonsWorld, type Stated } from './persons-world.ts';
import { anyRecord, anyStated, expectPersonsToHold, inTime, listMerges, RUNS } from './split-histories.ts';

/*
 * Migrations of one time of an export: what is outside makes no merge, and forbids those that the whole export would
 * not make (I11).
 */

const POLICIES = ['none', 'first', 'last'] as const;
const CUT = '2023-01-01T05:00:00.000Z';
const EARLIER: Window = { until: CUT };
const LATER: Window = { from: CUT };
const inAnyOrder = fc.constantFrom([EARLIER, LATER], [LATER, EARLIER]);
const anyExport = fc.array(anyStated, { minLength: 2, maxLength: 8 });

/** Each window is a migration, in their order; `isRemoved`: the facts of the first one are gone before the second. */
async function importIn(
  windows: readonly Window[],
  facts: readonly Stated[],
  { sharedDevices, isRemoved = false }: { sharedDevices: (typeof POLICIES)[number]; isRemoved?: boolean },
) {
  const world = createPersonsWorld({ overwrite: false, sharedDevices });
  for (const [index, window] of windows.entries()) {
    await world.add(`w${index}`, facts, window);
    expect(await world.send(`w${index}`)).toBe('done');
    if (isRemoved && index === 0) expect(await world.remove('w0')).toBe('done');
  }
  return world;
}

describe.each(POLICIES)('windows of an export, shared devices: %s', (sharedDevices) => {
  it('merge nobody whom the whole export keeps apart, whatever of them is imported', async () => {
    await fc.assert(
      fc.asyncProperty(anyExport, inAnyOrder, fc.boolean(), async (facts, windows, isRemoved) => {
        const whole = await listMerges(facts, sharedDevices);
        const { live } = await importIn(windows, facts, { sharedDevices, isRemoved });
        expect(whole).toEqual(expect.arrayContaining([...live.merges()]));
      }),
      { numRuns: RUNS },
    );
  }, 600_000);

  it('merge nobody else where users have other ids by now', async () => {
    const anyRecords = fc
      .array(fc.array(anyRecord, { minLength: 2, maxLength: 6 }), { minLength: 1, maxLength: 1 })
      .map((all) => inTime(all.map((facts) => ({ facts }))).flatMap(({ facts }) => facts));
    await fc.assert(
      fc.asyncProperty(anyRecords, inAnyOrder, async (facts, windows) => {
        const world = await importIn(windows, facts, { sharedDevices });
        await expectPersonsToHold(world, sharedDevices);
      }),
      { numRuns: RUNS },
    );
  }, 600_000);
});

it('windows that meet merge together whom the whole export merges', async () => {
  await fc.assert(
    fc.asyncProperty(anyExport, inAnyOrder, async (facts, windows) => {
      const { live } = await importIn(windows, facts, { sharedDevices: 'none' });
      expect(live.merges().toSorted()).toEqual((await listMerges(facts, 'none')).toSorted());
    }),
    { numRuns: RUNS },
  );
}, 600_000);

const at = (hour: number) => `2023-01-01T0${hour}:00:00.000Z`;
const pair = (userId: string, hour: number): Stated => ({
  kind: 'pair',
  anonId: 'a1',
  userId,
  time: at(hour),
});

it.each([
  ['first', [pair('u2', 0), pair('u1', 6), pair('u2', 7)], { earlier: 'a1 → u2', later: 'a1 → u2' }],
  ['first', [pair('u2', 0), pair('u1', 6)], { earlier: 'a1 → u2', later: undefined }],
  ['last', [pair('u2', 0), pair('u1', 6), pair('u2', 7)], { earlier: undefined, later: 'a1 → u1' }],
] as const)(
  'a shared device goes to whom all times say, in a window of that user: %s',
  async (sharedDevices, facts, { earlier, later }) => {
    for (const [window, merge] of [[EARLIER, earlier] as const, [LATER, later] as const]) {
      const { live, reported } = await importIn([window], facts, { sharedDevices });
      expect(live.merges()).toEqual(merge === undefined ? [] : [merge]);
      expect([...reported]).toEqual(merge === undefined ? ['shared_device a1'] : []);
    }
    const { live } = await importIn([LATER, EARLIER], facts, { sharedDevices });
    expect(live.merges()).toEqual(await listMerges(facts, sharedDevices));
  },
);

const rename = (from: string, to: string, hour: number): Stated[] => [
  { kind: 'pair', anonId: from, userId: to, time: at(hour) },
  { kind: 'rename', from, to, time: at(hour) },
];

it('a circle of names is one although half of it is outside', async () => {
  const facts = [...rename('u1', 'u2', 6), ...rename('u2', 'u1', 0)];
  expect(await listMerges(facts, 'none')).toEqual([]);
  const { live } = await importIn([EARLIER, LATER], facts, { sharedDevices: 'none' });
  expect(live.merges()).toEqual([]);
});

it('a name that is said outside alone renames nobody', async () => {
  const facts = [pair('u2', 6), ...rename('u1', 'u2', 6), ...rename('u2', 'u3', 0)];
  const { live } = await importIn([LATER], facts, { sharedDevices: 'none' });
  // Nothing else says that u1 is a user, so it is merged as any id.
  expect(live.merges()).toEqual(['a1 → u2', 'u1 → u2']);
});

describe('a run within a window', () => {
  let bench: PersonsBench;
  beforeAll(async () => {
    bench = await createPersonsBench();
  });
  afterAll(() => bench?.close());

  it('merges no device that others used at another time, and says nothing of those that it does not have', async () => {
    const before = '2021-01-01T00:00:00Z';
    const seen = [
      { user: 'dora', device: 'kiosk' },
      { user: 'emil', device: 'kiosk', time: before },
      { user: 'gus', device: 'fay' },
      { user: 'fay', plan: 'old', time: before },
      { user: 'hal', device: 'own', plan: 'new' },
      { user: 'hal', device: 'own', plan: 'old', time: before },
      { user: 'ida', device: 'gone', time: before },
      { user: 'jan', device: 'gone', time: before },
    ];
    const where = { destination: bench.project('windowed'), window: { from: '2022-01-01', timezone: 'UTC' } };
    const { counts, people } = await bench.run('windowed', seen, where);
    expect(counts).toMatchObject({ read: 8, delivered: 3, skipped: 5 });
    expect(people).toMatchObject({ pairs: 1, persons: 1 });
    expect(people.setAside).toEqual({ shared_device: 1, already_identified: 1 });
    expect(bench.takeSent()).toEqual({
      merges: ['own → hal'],
      properties: ['{"id":"hal","$set_once":{"plan":"new"}}'],
    });

    // The rest later: what was sent holds, and what nobody knew before is decided with it.
    const rest = { ...where, window: { until: '2022-01-01', timezone: 'UTC' } };
    expect((await bench.run('rest', seen, rest)).people).toMatchObject({
      pairs: 0,
      setAside: { shared_device: 2 },
    });
    expect(bench.takeSent().merges).toEqual([]);
  });
});
