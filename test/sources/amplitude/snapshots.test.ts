import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IdentityFact } from '../../../src/contract/identity-fact.ts';
import { FactFold } from '../../../src/identity/fact-fold.ts';
import { createTestLedger, takeTestTurn } from '../../identity/ledgers.ts';
import { createMapper } from '../create-mapper.ts';

const map = createMapper('amplitude');

interface Snapshot {
  readonly at?: string;
  readonly number?: unknown;
  readonly uploaded?: string;
  readonly project?: unknown;
  readonly has: Readonly<Record<string, unknown>>;
}

function toFacts({
  at = '2023-05-01 12:00:00.123456',
  number,
  uploaded,
  project,
  has,
}: Snapshot): readonly IdentityFact[] {
  const outcome = map({
    event_type: '$identify',
    user_id: 'u-1',
    event_time: at,
    event_id: number,
    server_upload_time: uploaded,
    app: project,
    user_properties: has,
  });
  return outcome.kind === 'rejected' ? [] : outcome.facts;
}

async function fold(snapshots: readonly Snapshot[]) {
  const { events } = await takeTestTurn(createTestLedger(), snapshots.flatMap(toFacts), { overwrite: true });
  return events.map(({ timestamp, properties }) => ({ timestamp, set: properties['$set'] }));
}

const NOON = '2023-05-01T12:00:00.123Z';

it.each<[string, readonly Snapshot[], Readonly<Record<string, unknown>>]>([
  [
    'microseconds',
    [
      { at: '2023-05-01 12:00:00.123456', has: { a: 'z' } },
      { at: '2023-05-01 12:00:00.123457', has: { a: 'b' } },
    ],
    { a: 'b' },
  ],
  [
    'then event_id, as a number',
    [
      { number: 9, has: { a: 'z' } },
      { number: 10, has: { a: 'b' } },
    ],
    { a: 'b' },
  ],
  [
    'then server_upload_time',
    [
      { number: 9, uploaded: '2023-05-01 12:01:00.000000', has: { a: 'z' } },
      { number: 9, uploaded: '2023-05-01 12:02:00.000000', has: { a: 'b' } },
    ],
    { a: 'b' },
  ],
  [
    'nothing that can be read: the value',
    [{ number: 'x\t', uploaded: '\n', has: { a: 'z' } }, { has: { a: 'b' } }],
    { a: 'z' },
  ],
])('snapshots of one millisecond are decided by %s', async (_by, snapshots, set) => {
  // https://amplitude.com/docs/apis/analytics/export
  for (const order of [snapshots, snapshots.toReversed()])
    expect(await fold(order)).toEqual([{ timestamp: NOON, set }]);
});

it('lets a property stay gone that a later snapshot lacks', async () => {
  const snapshots = [
    { at: '2023-05-01 12:00:00', has: { plan: 'gold', trial: true } },
    { at: '2023-05-02 12:00:00', has: { plan: 'gold' } },
    { at: '2023-05-03 12:00:00', has: {} },
  ];
  expect(await fold(snapshots)).toEqual([{ timestamp: '2023-05-02T12:00:00.000Z', set: { plan: 'gold' } }]);
  expect(await fold([...snapshots, { at: '2023-05-04 12:00:00', has: { trial: 1 } }])).toEqual([
    { timestamp: '2023-05-04T12:00:00.000Z', set: { trial: 1 } },
  ]);
});

describe('of several projects in one export', () => {
  it.each([
    ['numbers', 1, 12],
    ['texts', 'a\t"', 'a\n"'],
    ['one that is not known', 1, undefined],
  ])('the newest snapshot of one takes away nothing of another: %s', async (_, one, other) => {
    const snapshots: Snapshot[] = [
      { at: '2023-05-01 12:00:00', project: one, has: { email: 'a@x.io', plan: 'pro', trial: 1 } },
      { at: '2023-05-02 12:00:00', project: one, has: { email: 'a@x.io', plan: 'pro' } },
      { at: '2023-05-03 12:00:00', project: other, has: { plan: 'free', theme: 'light', old: 1 } },
      { at: '2023-05-04 12:00:00', project: other, has: { theme: 'dark' } },
    ];
    const set = { email: 'a@x.io', plan: 'pro', theme: 'dark' };
    for (const order of [snapshots, snapshots.toReversed()])
      expect(await fold(order)).toEqual([{ timestamp: '2023-05-04T12:00:00.000Z', set }]);
  });

  it('each has what its last snapshot says, and of a name that several have the latest counts', async () => {
    const said = fc.record({
      project: fc.constantFrom(1, 2, 12),
      has: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y'), {
        minKeys: 1,
        maxKeys: 3,
      }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(said, { maxLength: 8 }), async (all) => {
        const snapshots = all.map((one, number) => ({ ...one, number }));
        const lastOfEach = new Map(snapshots.map((one) => [one.project, one]));
        const byTime = [...lastOfEach.values()].sort((a, b) => a.number - b.number);
        const set: unknown = Object.assign({}, ...byTime.map(({ has }) => has));
        for (const order of [snapshots, snapshots.toReversed()])
          expect(await fold(order)).toEqual(all.length > 0 ? [{ timestamp: NOON, set }] : []);
      }),
      { numRuns: 100 },
    );
  });
});

const snapshot = fc.record({
  at: fc.constantFrom('2023-05-01 12:00:00.123456', '2023-05-01 12:00:00.123999', '2023-05-02 12:00:00'),
  number: fc.constantFrom(1, 2, undefined),
  uploaded: fc.constantFrom('2023-05-01 12:01:00', '2023-05-01 12:02:00'),
  project: fc.constantFrom(1, 2, undefined),
  has: fc.dictionary(fc.constantFrom('a', 'b', 'initial_c'), fc.constantFrom('x', 'y'), { maxKeys: 3 }),
});

it('comes to the same whatever the order of records and the cut of parts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(snapshot, { maxLength: 8 }), fc.nat(), async (snapshots, cut) => {
      const whole = await fold(snapshots);
      expect(await fold(snapshots.toReversed())).toEqual(whole);
      const at = cut % (snapshots.length + 1);
      const merged = new FactFold();
      for (const part of [snapshots.slice(at), snapshots.slice(0, at)]) {
        const ofPart = new FactFold();
        for (const fact of part.flatMap(toFacts)) ofPart.add(fact);
        for (const stored of ofPart.takeStored()) merged.addStored(stored);
      }
      const all = new FactFold();
      for (const fact of snapshots.flatMap(toFacts)) all.add(fact);
      const textOf = (facts: FactFold) => facts.ids.get('u-1')?.properties?.text;
      expect(textOf(merged)).toBe(textOf(all));
    }),
    { numRuns: 60 },
  );
});
