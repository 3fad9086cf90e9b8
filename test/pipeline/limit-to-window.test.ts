import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TargetEvent } from '../../src/contract/event.ts';
import { HEARD_TIME, toHeardTime } from '../../src/contract/heard-time.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../src/contract/outcome.ts';
import { limitToWindow, type Window } from '../../src/pipeline/limit-to-window.ts';

const FROM = '2023-01-01T00:00:00.000Z';
const UNTIL = '2024-01-01T00:00:00.000Z';
const BEFORE = '2022-12-31T23:59:59.999Z';
const LAST = '2023-12-31T23:59:59.999Z';

const at = (timestamp: string, event = 'Signed up'): TargetEvent => ({
  event,
  uuid: 'u',
  timestamp,
  properties: { distinct_id: 'ann' },
});
const pair = (time: string): IdentityFact => ({ kind: 'pair', anonId: 'd', userId: 'ann', time });
/** What is left of such a pair outside. */
const heardAt = (time: string) => ({ userIds: ['ann'], facts: [pair(toHeardTime(time))], seen: [] });
const limit = (outcome: MapOutcome, window: Window = { from: FROM, until: UNTIL }) =>
  limitToWindow(() => outcome, window)({});

describe('a record with one event', () => {
  test.each([
    [BEFORE, 'before_window'],
    [FROM, 'mapped'],
    [LAST, 'mapped'],
    [UNTIL, 'after_window'],
  ])('of %s is %s', (time, came) => {
    const outcome = limit(mapped([at(time)], [pair(time)], 'ann'));
    expect(outcome.kind === 'skipped' ? outcome.reason : outcome.kind).toBe(came);
    if (outcome.kind === 'rejected') throw new Error('no reject was expected');
    expect(outcome.facts).toHaveLength(came === 'mapped' ? 1 : 0);
    expect(outcome.userId).toBe(came === 'mapped' ? 'ann' : undefined);
    expect(outcome.heard).toEqual(came === 'mapped' ? undefined : heardAt(time));
  });

  test('that is outside is counted under its own day and name', () => {
    expect(limit(mapped([at(UNTIL, 'Opened')]))).toEqual({
      kind: 'skipped',
      reason: 'after_window',
      facts: [],
      of: { timestamp: UNTIL, event: 'Opened' },
    });
  });

  test('passes as it is where it is inside, with what it repeats of a moment before', () => {
    for (const time of [FROM, BEFORE]) {
      const outcome = mapped([at(FROM)], [pair(time)]);
      expect(limit(outcome)).toBe(outcome);
    }
  });
});

test('of several events those inside are left, and none of them skips the record', () => {
  const kept = limit(mapped([at(BEFORE), at(FROM), at(UNTIL)], [pair(BEFORE)]));
  expect(kept).toMatchObject({ kind: 'mapped', events: [at(FROM)], facts: [] });
  expect(kept.heard).toEqual({ ...heardAt(BEFORE), userIds: [] });
  expect(limit(mapped([at(BEFORE), at(UNTIL)]))).toMatchObject({ kind: 'skipped', reason: 'before_window' });
});

test('a record that only feeds persons is outside with its facts', () => {
  expect(limit(skipped('feeds_people', [pair(BEFORE)], 'ann'))).toEqual({
    kind: 'skipped',
    reason: 'before_window',
    facts: [],
    of: { timestamp: BEFORE },
    heard: heardAt(BEFORE),
  });
  expect(limit(skipped('feeds_people', [pair(UNTIL)]))).toMatchObject({ reason: 'after_window' });
  const inside = skipped('feeds_people', [pair(FROM)], 'ann');
  expect(limit(inside)).toBe(inside);
  const timeless = skipped('excluded_by_manifest');
  expect(limit(timeless)).toBe(timeless);
});

test('what a record without facts says of the persons of the vendor is only heard where it is outside', () => {
  const seen = (time: string) => ({ person: '1', id: 'd', isUser: false, time });
  const marker = (time: string) => skipped('session_marker', [], undefined, seen(time));
  expect(limit(marker(BEFORE))).toMatchObject({
    reason: 'session_marker',
    seen: undefined,
    heard: { seen: [seen(toHeardTime(BEFORE))] },
  });
  expect(limit(marker(FROM))).toMatchObject({ seen: seen(FROM) });
});

test('properties of what is outside are not heard, and new names of users are', () => {
  const facts: IdentityFact[] = [
    { kind: 'person', distinctId: 'ann', time: BEFORE, set: { plan: 'old' } },
    { kind: 'group', groupType: 'company', groupKey: 'acme', time: BEFORE, set: { plan: 'old' } },
    pair(BEFORE),
    { kind: 'rename', from: 'd', to: 'ann', time: BEFORE },
  ];
  expect(limit(mapped([at(BEFORE)], facts, 'ann')).heard).toEqual({
    ...heardAt(BEFORE),
    facts: [pair(toHeardTime(BEFORE)), { kind: 'rename', from: 'd', to: 'ann', time: HEARD_TIME }],
  });
});

test('a window may have one end alone, and a reject stays one', () => {
  expect(limit(mapped([at(BEFORE)]), { until: UNTIL })).toMatchObject({ kind: 'mapped' });
  expect(limit(mapped([at('2100-12-31T00:00:00.000Z')]), { from: FROM })).toMatchObject({ kind: 'mapped' });
  expect(limit(rejected('bad_timestamp', 'x'))).toEqual(rejected('bad_timestamp', 'x'));
});

test('windows that meet take each event once', () => {
  const year = (from: number, to: number) =>
    fc.date({ min: new Date(Date.UTC(from, 0)), max: new Date(Date.UTC(to, 0)), noInvalidDate: true });
  fc.assert(
    fc.property(
      fc.array(year(2020, 2030), { minLength: 1, maxLength: 4 }),
      year(2020, 2030),
      (dates, cut) => {
        const outcome = mapped(
          dates.map((date) => at(date.toISOString())),
          dates.map((date) => pair(date.toISOString())),
        );
        const both = [
          limit(outcome, { until: cut.toISOString() }),
          limit(outcome, { from: cut.toISOString() }),
        ];
        const events = both.flatMap((each) => (each.kind === 'mapped' ? each.events : []));
        const facts = both.flatMap((each) => (each.kind === 'rejected' ? [] : each.facts));
        expect(events).toHaveLength(dates.length);
        expect(facts).toHaveLength(dates.length);
      },
    ),
  );
});
