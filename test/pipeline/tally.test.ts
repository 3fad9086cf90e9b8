import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBalanced } from '../../src/contract/counts.ts';
import { tally as tallySchema } from '../../src/contract/progress.ts';
import {
  type CountedOutcome,
  EVENT_NAMES_MAX,
  emptyTally,
  findImbalances,
  mergeTally,
  OTHER_EVENTS,
  TallyBuilder,
} from '../../src/pipeline/tally.ts';

const day = fc.constantFrom('2023-01-01', '2023-01-02', 'unknown');
const event = fc.constantFrom('$pageview', 'a', '__proto__', 'constructor', OTHER_EVENTS, '');
const counted: fc.Arbitrary<CountedOutcome> = fc.oneof(
  fc.record({ outcome: fc.constant('delivered' as const), day, event }),
  fc.record({
    outcome: fc.constantFrom('skipped' as const, 'duplicate' as const, 'rejected' as const),
    reason: fc.constantFrom('no_identity', 'session_marker', 'repeated'),
    day,
    event,
  }),
);

const tallyOf = (outcomes: readonly CountedOutcome[]) => {
  const builder = new TallyBuilder();
  for (const outcome of outcomes) {
    builder.addOutcome(outcome);
    builder.addEvents(2, 1);
  }
  return builder.build();
};

test('whatever is counted, every book adds up to the same totals', () => {
  fc.assert(
    fc.property(fc.array(counted), (outcomes) => {
      const tally = tallyOf(outcomes);
      expect(tally.counts.read).toBe(outcomes.length);
      expect(findImbalances(tally)).toEqual([]);
    }),
  );
});

test('merging is the same in every order and grouping, and equals counting at once', () => {
  const some = fc.array(counted);
  fc.assert(
    fc.property(some, some, some, (a, b, c) => {
      const [x, y, z] = [tallyOf(a), tallyOf(b), tallyOf(c)];
      const whole = JSON.stringify(tallyOf([...a, ...b, ...c]));
      expect(JSON.stringify(mergeTally(mergeTally(x, y), z))).toBe(whole);
      expect(JSON.stringify(mergeTally(x, mergeTally(z, y)))).toBe(whole);
      expect(mergeTally(x, emptyTally())).toEqual(x);
    }),
  );
});

test('a tally survives being stored, awkward event names included', () => {
  fc.assert(
    fc.property(fc.array(counted), (outcomes) => {
      const tally = tallyOf(outcomes);
      expect(tallySchema.parse(JSON.parse(JSON.stringify(tally)))).toEqual(tally);
    }),
  );
});

test('going on from a tally leaves the one it starts from as it was', () => {
  const start = tallyOf([{ outcome: 'delivered', day: '2023-01-01', event: 'a' }]);
  const before = structuredClone(start);
  new TallyBuilder(start).addOutcome({ outcome: 'delivered', day: '2023-01-01', event: 'a' });
  expect(start).toEqual(before);
});

const named = (names: readonly string[]): CountedOutcome[] =>
  names.map((name) => ({ outcome: 'delivered', day: '2023-01-01', event: name }));

test('as many event names as allowed are told apart, and one more goes to (other)', () => {
  const names = Array.from({ length: EVENT_NAMES_MAX }, (_, number) => `event ${10_000 + number}`);
  const full = tallyOf(named(names));
  expect(Object.keys(full.byEvent)).toHaveLength(EVENT_NAMES_MAX);
  expect(full.byEvent).not.toHaveProperty([OTHER_EVENTS]);

  const over = tallyOf(named([...names, 'zzz', 'zzz']));
  expect(over.byEvent[OTHER_EVENTS]?.read).toBe(2);
  expect(findImbalances(over)).toEqual([]);
});

test('beyond the allowed event names the books still balance, in whatever order parts are added', () => {
  const names = Array.from(
    { length: 3 * EVENT_NAMES_MAX },
    (_, number) => `event ${(number * 7_919) % 6_000}`,
  );
  const cut = (from: number, to: number) => tallyOf(named(names.slice(from, to)));
  const [a, b, c] = [cut(0, 2_500), cut(2_500, 4_000), cut(4_000, names.length)];
  const whole = tallyOf(named(names));
  expect(findImbalances(whole)).toEqual([]);
  expect(Object.keys(whole.byEvent)).toHaveLength(EVENT_NAMES_MAX + 1);
  expect(mergeTally(mergeTally(a, b), c)).toEqual(whole);
  expect(mergeTally(c, mergeTally(b, a))).toEqual(whole);
});

test('a missing outcome does not balance', () => {
  expect(isBalanced({ read: 3, delivered: 1, skipped: 1, duplicate: 0, rejected: 1 })).toBe(true);
  expect(isBalanced({ read: 4, delivered: 1, skipped: 1, duplicate: 0, rejected: 1 })).toBe(false);
});

test('each book that disagrees is named', () => {
  const tally = tallyOf(named(['a', 'b']));
  const two = { ...tally.counts };
  expect(findImbalances({ ...tally, byDay: {} })).toEqual([expect.stringContaining('by day')]);
  expect(findImbalances({ ...tally, byEvent: { a: two, b: two } })).toEqual([
    expect.stringContaining('event name'),
  ]);
  expect(findImbalances({ ...tally, byReason: { no_identity: 1 } })).toEqual([
    expect.stringContaining('by reason'),
  ]);
  const lost = { ...two, read: 3 };
  expect(findImbalances({ ...tally, counts: lost, byDay: { d: lost }, byEvent: { a: lost } })).toEqual([
    expect.stringContaining('3 records read'),
  ]);
});
