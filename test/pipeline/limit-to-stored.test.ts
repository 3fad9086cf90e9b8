import { describe, expect, test } from 'vitest';
import type { MappedEvent, TargetEvent } from '../../src/contract/event.ts';
import { HEARD_TIME } from '../../src/contract/heard-time.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../src/contract/outcome.ts';
import { toLatest } from '../../src/deliver/not-stored.ts';
import { PropertyList } from '../../src/lib/json/property-list.ts';
import { limitToStored } from '../../src/pipeline/limit-to-stored.ts';

const LATEST = toLatest(new Date('2024-02-28T03:00:00.000Z'));
const AFTER = '2024-02-29T01:00:00.001Z';

const at = (timestamp: string, event = 'Signed up'): TargetEvent => ({
  event,
  uuid: 'u',
  timestamp,
  properties: { distinct_id: 'ann' },
});
const person = (time: string): IdentityFact => ({ kind: 'person', distinctId: 'ann', time, set: { a: 1 } });
const limit = (outcome: MapOutcome, latest: string | undefined = LATEST) =>
  limitToStored(() => outcome, latest)({});

test('the last time is an hour below what the service replaces', () => {
  expect(LATEST).toBe('2024-02-29T01:00:00.000Z');
});

describe('a record with events', () => {
  test.each([
    ['2019-01-01T00:00:00.000Z', 'mapped'],
    [LATEST, 'mapped'],
    [AFTER, 'rejected'],
    ['2099-01-01T00:00:00.000Z', 'rejected'],
  ])('of %s is %s', (time, kind) => {
    const outcome = mapped([at(time)], [person(time)], 'ann');
    expect(limit(outcome).kind).toBe(kind);
    if (kind === 'mapped') expect(limit(outcome)).toBe(outcome);
  });

  test('is rejected as a whole where one of them is in the future, under the day and name of that one', () => {
    const outcome = limit(mapped([at(LATEST), at(AFTER, 'Renewed')], [person(AFTER)]));
    expect(outcome).toMatchObject({
      kind: 'rejected',
      reason: 'in_the_future',
      of: { timestamp: AFTER, event: 'Renewed' },
    });
    expect(outcome).toHaveProperty('detail', expect.stringContaining(`${LATEST} is the last one`));
  });

  test.each(['$performance_event', '$$client_ingestion_warning', '$$heatmap'])(
    'is rejected where the destination drops events of its name: %s',
    (event) => {
      expect(limit(mapped([at(LATEST), at(LATEST, event)]))).toMatchObject({
        kind: 'rejected',
        reason: 'bad_field',
        of: { timestamp: LATEST, event },
      });
      expect(limit(mapped([at(LATEST, '$pageview')])).kind).toBe('mapped');
    },
  );

  test.each([
    [true, 'rejected'],
    ['true', 'rejected'],
    [1, 'rejected'],
    [false, 'mapped'],
    [null, 'mapped'],
    [undefined, 'mapped'],
  ])('whose person would be named by the secret of its day, marked with %j, is %s', (mark, kind) => {
    const event = { ...at(LATEST), properties: { distinct_id: 'ann', $cookieless_mode: mark } };
    const list = new PropertyList();
    list.set('distinct_id', 'ann');
    list.set('$cookieless_mode', mark);
    for (const properties of [event.properties, list]) {
      const outcome = limitToStored<MappedEvent>(
        () => mapped<MappedEvent>([{ ...event, properties }]),
        LATEST,
      )({});
      expect(outcome.kind).toBe(kind);
      if (kind === 'rejected')
        expect(outcome).toMatchObject({
          reason: 'bad_field',
          detail: expect.stringContaining('$cookieless_mode'),
          of: { timestamp: LATEST, event: 'Signed up' },
        });
    }
  });
});

test('a record that only feeds persons is rejected by its time, whatever orders it within its millisecond', () => {
  expect(limit(skipped('feeds_people', [person(`${LATEST}999.5`)])).kind).toBe('skipped');
  expect(limit(skipped('feeds_people', [person(`${AFTER}1`)]))).toMatchObject({
    reason: 'in_the_future',
    of: { timestamp: AFTER },
  });
  expect(limit(skipped('excluded_by_manifest')).kind).toBe('skipped');
});

test('a reject stays what it is', () => {
  const outcome = rejected('no_identity', '');
  expect(limit(outcome)).toBe(outcome);
});

test('nothing is rejected of what an earlier version took in', () => {
  const map = () => mapped([at(AFTER, '$performance_event')]);
  expect(limitToStored(map, undefined)).toBe(map);
});

test('the limited map takes views of the same fields', () => {
  const viewFields = new Set(['a']);
  const map = Object.assign(() => mapped([at(LATEST)]), { viewFields });
  expect(limitToStored(map, LATEST).viewFields).toBe(viewFields);
});

test('a record in the future still says who is who, which keeps devices of several users apart', () => {
  const pair = { kind: 'pair', anonId: 'tablet', userId: 'ann', time: AFTER } as const;
  const seen = { person: '7', id: 'ann', isUser: true, beside: 'tablet', time: AFTER };
  const heard = {
    userIds: ['ann', 'bob'],
    facts: [{ ...pair, time: HEARD_TIME }],
    seen: [{ person: '7', id: 'ann', isUser: true, time: HEARD_TIME }],
  };
  const outcomes = [
    mapped([at(AFTER)], [pair, person(AFTER)], 'ann', seen),
    skipped('feeds_people', [pair], 'ann', seen),
  ];
  for (const outcome of outcomes)
    expect(limit({ ...outcome, otherUserIds: ['bob'] })).toMatchObject({ reason: 'in_the_future', heard });
  const twice = { ...outcomes[0], heard: { userIds: ['eve'], facts: [], seen: [] } } as MapOutcome;
  expect(limit(twice)).toMatchObject({ heard: { userIds: ['eve', 'ann'] } });
});
