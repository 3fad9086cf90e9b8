import { expect, test } from 'vitest';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import { toGroupDistinctId } from '../../src/identity/synthetic-events.ts';
import { ExactNumber } from '../../src/lib/json/exact-number.ts';
import { stringifyJson } from '../../src/lib/json/stringify-json.ts';
import { createTestLedger, type TurnOptions, takeTestTurn } from './ledgers.ts';

const T1 = '2023-01-01T00:00:00.000Z';
const T2 = '2023-01-02T00:00:00.000Z';

const fold = (facts: readonly IdentityFact[], options: TurnOptions = {}) =>
  takeTestTurn(createTestLedger(), facts, options);

const foldEvents = async (facts: readonly IdentityFact[], options: TurnOptions = {}) =>
  (await fold(facts, options)).events;

const person = (
  set: Record<string, unknown>,
  setOnce: Record<string, unknown> = {},
  time = T1,
): IdentityFact => ({
  kind: 'person',
  distinctId: 'u1',
  time,
  set,
  setOnce,
});

test('history goes as $set_once, so that it never overwrites what is live', async () => {
  const [event] = await foldEvents([
    person({ plan: 'team' }, { $initial_referrer: 'x' }, T1),
    person({ seats: 3 }, {}, T2),
  ]);
  expect(event).toMatchObject({
    event: '$identify',
    timestamp: T2,
    properties: {
      distinct_id: 'u1',
      $set_once: { $initial_referrer: 'x', plan: 'team', seats: 3 },
      $geoip_disable: true,
    },
  });
  expect(event?.properties).not.toHaveProperty('$set');
  expect(event?.properties).not.toHaveProperty('$anon_distinct_id');
});

test('with overwriting asked for the latest values go as $set, first ones still as $set_once', async () => {
  const [event] = await foldEvents([person({ plan: 'team' }, { $initial_referrer: 'x' })], {
    overwrite: true,
  });
  expect(event?.properties).toMatchObject({ $set: { plan: 'team' }, $set_once: { $initial_referrer: 'x' } });
});

test('a property both set and set once has the value that was set, as it had at the source', async () => {
  const [event] = await foldEvents([person({ plan: 'latest' }, { plan: 'first' })]);
  expect(event?.properties).toMatchObject({ $set_once: { plan: 'latest' } });
});

test('merges come before properties, and are told by who is merged alone', async () => {
  const pair = (anonId: string, time: string): IdentityFact => ({ kind: 'pair', anonId, userId: 'u1', time });
  const { events } = await fold([pair('d2', T1), pair('d1', T2), person({ plan: 'team' })]);
  expect(events.map(({ properties }) => properties['$anon_distinct_id'])).toEqual(['d2', 'd1', undefined]);
  expect((await fold([pair('d2', T2)])).events[0]?.uuid).toBe(events[0]?.uuid);
});

test('the uuid changes with the content, and with nothing else', async () => {
  const uuid = async (facts: readonly IdentityFact[]) => (await foldEvents(facts))[0]?.uuid;
  const base = await uuid([person({ a: 1, b: [1] }, {}, T1)]);
  expect(await uuid([person({ b: [1], a: 1 }, {}, T2)])).toBe(base);
  expect(await uuid([person({ a: 2, b: [1] }, {}, T1)])).not.toBe(base);
  expect(await uuid([{ ...person({ a: 1, b: [1] }), distinctId: 'u2' } as IdentityFact])).not.toBe(base);
});

test('a number leaves with the digits it came with', async () => {
  const [event] = await foldEvents([person({ account: new ExactNumber('1234567890123456789'), half: 0.5 })]);
  expect(stringifyJson(event?.properties['$set_once'])).toBe('{"account":1234567890123456789,"half":0.5}');
});

test('a property named __proto__ is a property like any other', async () => {
  const set = JSON.parse('{"__proto__":"x"}') as Record<string, unknown>;
  const [event] = await foldEvents([person(set)]);
  expect(JSON.stringify(event?.properties['$set_once'])).toBe('{"__proto__":"x"}');
});

test('a group speaks through an id of its own', async () => {
  const group: IdentityFact = {
    kind: 'group',
    groupType: 'company',
    groupKey: 'Acme',
    time: T1,
    set: { seats: 5 },
  };
  expect(await foldEvents([group], { groupIdentifyEvent: '$groupidentify' })).toMatchObject([
    {
      event: '$groupidentify',
      timestamp: T1,
      properties: {
        distinct_id: '$company_Acme',
        $group_type: 'company',
        $group_key: 'Acme',
        $group_set: { seats: 5 },
        $geoip_disable: true,
      },
    },
  ]);
  expect(await foldEvents([{ ...group, set: {} }])).toHaveLength(1);
});

test('the id of a group never exceeds 200 characters, and tells long keys apart', async () => {
  expect(toGroupDistinctId('t', 'k'.repeat(197))).toBe(`$t_${'k'.repeat(197)}`);
  const long = [`${'k'.repeat(300)}1`, `${'k'.repeat(300)}2`].map((key) => toGroupDistinctId('t', key));
  for (const id of long) expect(id.length).toBeLessThanOrEqual(200);
  expect(long[0]).not.toBe(long[1]);
  for (const lead of ['', 'k']) {
    const id = toGroupDistinctId('t', lead + '🚀'.repeat(200));
    expect(Buffer.from(id).toString()).toBe(id);
  }
  // What is half a surrogate pair stays so, for the destination to refuse, and no two become one.
  const halves = ['\ud800', '\ud801'].map((half) => toGroupDistinctId('t', 'k'.repeat(300) + half));
  expect(halves[0]).not.toBe(halves[1]);
  expect(toGroupDistinctId('t', '\ud800')).toBe('$t_\ud800');
});

test('a person too large for one event is cut, in order, and loses nothing', async () => {
  const set = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`p${100 + n}`, 'ü'.repeat(100)]));
  const events = await foldEvents([person(set)], { maxBytes: 1_000 });
  expect(events.length).toBeGreaterThan(10);
  expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(events.length);
  for (const { properties } of events) {
    expect(Buffer.byteLength(JSON.stringify(properties['$set_once']))).toBeLessThanOrEqual(1_000);
  }
  expect(Object.assign({}, ...events.map(({ properties }) => properties['$set_once']))).toEqual(set);
});

test('a property that fits no event is set aside by name, at the very limit it is sent', async () => {
  // Around the x: the key in quotes, the quotes of the value, a colon, a comma or brace.
  const fits = await fold([person({ p: 'x'.repeat(93) })], { maxBytes: 100 });
  expect(fits).toMatchObject({ events: [{}], unmerged: [] });
  const tooLarge = await fold([person({ p: 'x'.repeat(94) })], { maxBytes: 100 });
  expect(tooLarge).toMatchObject({
    events: [],
    unmerged: [{ reason: 'property_too_large', id: 'u1', property: 'p' }],
  });
});

test('what finds no room in the profile that a destination keeps is set aside by name, and the rest is sent', async () => {
  const half = 'x'.repeat(300_000);
  const { events, unmerged } = await fold([person({ a: half, b: half, c: 'small' })], {
    maxBytes: 1_000_000,
  });
  expect(events.map(({ properties }) => Object.keys(properties['$set_once'] as object))).toEqual([
    ['a'],
    ['c'],
  ]);
  expect(unmerged).toEqual([{ reason: 'property_too_large', id: 'u1', property: 'b' }]);
});
