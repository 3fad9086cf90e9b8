import { expect, test } from 'vitest';
import type { IncomingEvent } from '../../../../src/server/capture/incoming-event.ts';
import {
  collectDistinctIds,
  type KnownPersons,
  type Person,
  planPersons,
} from '../../../../src/server/capture/ingest/plan-persons.ts';

const nobody: KnownPersons = { persons: [], owners: new Map() };

let eventNumber = 0;
function event(
  distinctId: string,
  name: string,
  properties: Record<string, unknown> = {},
  timestamp = '2020-01-01T00:00:00.000Z',
): IncomingEvent {
  eventNumber += 1;
  return {
    uuid: `event-${eventNumber}`,
    event: name,
    distinctId,
    timestamp,
    properties,
    propertiesText: Buffer.from(''),
  };
}

function known(...people: (Partial<Person> & { uuid: string; ids: string[] })[]): KnownPersons {
  return {
    persons: people.map(({ ids: _ids, ...person }) => ({
      properties: new Map(),
      isIdentified: false,
      createdAt: '2019-01-01T00:00:00.000Z',
      ...person,
    })),
    owners: new Map(people.flatMap(({ uuid, ids }) => ids.map((id): [string, string] => [id, uuid]))),
  };
}

function plan(events: IncomingEvent[], people: KnownPersons = nobody) {
  let created = 0;
  return planPersons(events, people, () => `new-${++created}`);
}

const visible = (person: Person | undefined) =>
  Object.fromEntries([...(person?.properties ?? [])].filter(([key]) => key !== '$creator_event_uuid'));

test('makes a person of an unseen id, dated by its event', () => {
  const result = plan([event('a', 'x', { $set: { email: 'a@x' } })]);
  expect(result.created).toHaveLength(1);
  expect(result.created[0]).toMatchObject({
    uuid: 'new-1',
    isIdentified: false,
    createdAt: '2020-01-01T00:00:00.000Z',
  });
  expect(visible(result.created[0])).toEqual({ email: 'a@x' });
  expect(result.added).toEqual([{ distinctId: 'a', personUuid: 'new-1' }]);
});

test('makes one identified person of two unseen ids', () => {
  const result = plan([event('user', '$identify', { $anon_distinct_id: 'anon' })]);
  expect(result.created).toMatchObject([{ uuid: 'new-1', isIdentified: true }]);
  expect(result.added.map(({ distinctId }) => distinctId)).toEqual(['user', 'anon']);
});

test.each([
  ['user', 'anon'],
  ['anon', 'user'],
])('gives the new one of two ids to the person of %s', (owned, unseen) => {
  const result = plan(
    [event('user', '$identify', { $anon_distinct_id: 'anon' })],
    known({ uuid: 'p', ids: [owned] }),
  );
  expect(result.created).toEqual([]);
  expect(result.added).toEqual([{ distinctId: unseen, personUuid: 'p' }]);
  expect(result.updated).toMatchObject([{ uuid: 'p', isIdentified: true }]);
});

test('merges an anonymous person into the identified one: their properties give way, the earlier date stays', () => {
  const people = known(
    { uuid: 'p', ids: ['user'], isIdentified: true, properties: new Map([['plan', 'pro']]) },
    {
      uuid: 'q',
      ids: ['anon'],
      createdAt: '2018-01-01T00:00:00.000Z',
      properties: new Map([
        ['plan', 'free'],
        ['city', 'Oslo'],
      ]),
    },
  );
  const result = plan(
    [event('user', '$identify', { $anon_distinct_id: 'anon', $set: { seats: 3 } })],
    people,
  );
  expect(result.merged).toEqual([{ from: 'q', into: 'p' }]);
  expect(result.updated).toMatchObject([
    { uuid: 'p', createdAt: '2018-01-01T00:00:00.000Z', isIdentified: true },
  ]);
  expect(visible(result.updated[0])).toEqual({ plan: 'pro', city: 'Oslo', seats: 3 });
  expect(result.owners.get('anon')).toBe('p');
});

test('refuses to merge a person that is identified already, unless told that it is dangerous', () => {
  const people = known({ uuid: 'p', ids: ['user'] }, { uuid: 'q', ids: ['other'], isIdentified: true });
  const refused = plan([event('user', '$create_alias', { alias: 'other' })], people);
  expect(refused.merged).toEqual([]);
  expect(refused.warnings).toEqual({ cannot_merge_already_identified: 1 });
  const forced = plan([event('user', '$merge_dangerously', { alias: 'other' })], people);
  expect(forced.merged).toEqual([{ from: 'q', into: 'p' }]);
});

test('never merges over an id that stands for nobody, and keeps the event', () => {
  const result = plan([event('user', '$identify', { $anon_distinct_id: 'undefined', $set: { a: 1 } })]);
  expect(result.warnings).toEqual({ cannot_merge_with_illegal_distinct_id: 1 });
  expect(result.added.map(({ distinctId }) => distinctId)).toEqual(['user']);
  expect(visible(result.created[0])).toEqual({ a: 1 });
});

test('follows merges through one batch to the person who is left', () => {
  const people = known({ uuid: 'p', ids: ['a'] }, { uuid: 'q', ids: ['b'] }, { uuid: 'r', ids: ['c'] });
  const result = plan(
    [
      event('b', '$create_alias', { alias: 'a' }),
      event('c', '$merge_dangerously', { alias: 'b' }),
      event('a', 'x'),
    ],
    people,
  );
  expect(result.merged).toEqual([
    { from: 'p', into: 'r' },
    { from: 'q', into: 'r' },
  ]);
  expect([...result.owners.values()]).toEqual(['r', 'r', 'r']);
});

test('forgets a person who was made and merged within the batch', () => {
  const result = plan(
    [event('anon', 'x', { $set: { seen: true } }), event('user', '$identify', { $anon_distinct_id: 'anon' })],
    known({ uuid: 'p', ids: ['user'] }),
  );
  expect(result.created).toEqual([]);
  expect(result.merged).toEqual([]);
  expect(result.added).toEqual([{ distinctId: 'anon', personUuid: 'p' }]);
  expect(visible(result.updated[0])).toEqual({ seen: true });
});

test('does nothing when an id is merged with itself', () => {
  const result = plan(
    [event('a', '$identify', { $anon_distinct_id: 'a' })],
    known({ uuid: 'p', ids: ['a'] }),
  );
  expect(result).toMatchObject({ created: [], updated: [], merged: [], added: [] });
});

test('applies $set_once, $set and $unset in this order, in order of arrival and not of time', () => {
  const people = known({
    uuid: 'p',
    ids: ['a'],
    properties: new Map<string, unknown>([
      ['first', 1],
      ['gone', 1],
    ]),
  });
  const result = plan(
    [
      event(
        'a',
        'x',
        { $set_once: { first: 2, once: 'old' }, $set: { last: 'new' }, $unset: ['gone'] },
        '2022-01-01T00:00:00.000Z',
      ),
      event(
        'a',
        'x',
        { $set_once: { once: 'newer' }, $set: { last: 'earlier' } },
        '2021-01-01T00:00:00.000Z',
      ),
      event('a', '$delete_person_property', { $unset: { once: '' } }),
    ],
    people,
  );
  expect(visible(result.updated[0])).toEqual({ first: 1, last: 'earlier' });
});

test('copies facts of the visit: the first ones at once, later ones only along with another change', () => {
  const first = plan([event('a', '$pageview', { $browser: 'Firefox', utm_source: 'ad' })]);
  expect(visible(first.created[0])).toEqual({
    $browser: 'Firefox',
    $initial_browser: 'Firefox',
    utm_source: 'ad',
    $initial_utm_source: 'ad',
  });
  const properties = first.created[0]?.properties ?? new Map();
  const people = known({ uuid: 'p', ids: ['a'], properties });
  expect(plan([event('a', '$pageview', { $browser: 'Safari' })], people).updated).toEqual([]);
  const along = plan([event('a', '$pageview', { $browser: 'Safari', $set: { email: 'a@x' } })], people);
  expect(visible(along.updated[0])).toMatchObject({
    $browser: 'Safari',
    $initial_browser: 'Firefox',
    email: 'a@x',
  });
  expect(plan([event('a', '$set', { $browser: 'Safari' })], people).updated).toHaveLength(1);
});

test('lets an explicit $set win over the fact copied under the same name', () => {
  const result = plan([event('a', 'x', { $os: 'Linux', $set: { $os: 'mine' } })]);
  expect(visible(result.created[0])).toEqual({ $os: 'mine', $initial_os: 'Linux' });
});

test('makes no person where the sender wants none, and knows the one there is', () => {
  const personless = { $process_person_profile: false, $set: { a: 1 } };
  expect(plan([event('a', 'x', personless)])).toMatchObject({ created: [], added: [] });
  const result = plan([event('a', 'x', personless)], known({ uuid: 'p', ids: ['a'] }));
  expect(result.updated).toEqual([]);
  expect(result.owners.get('a')).toBe('p');
});

test('leaves a person alone whom nothing changes', () => {
  const people = known({ uuid: 'p', ids: ['a'], properties: new Map<string, unknown>([['tags', ['x']]]) });
  expect(plan([event('a', '$set', { $set: { tags: ['x'] } }), event('a', 'y')], people).updated).toEqual([]);
});

test('names every id that a batch speaks of, once', () => {
  const events = [
    event('a', 'x'),
    event('a', '$identify', { $anon_distinct_id: 'b' }),
    event('c', '$create_alias', { alias: 12 }),
  ];
  expect(collectDistinctIds(events)).toEqual(['a', 'b', 'c', '12']);
});

const textOfLength = (length: number) => 'x'.repeat(length);
const violation = { person_properties_size_violation: 1 };

test('takes 512 KiB of properties for a person, and leaves a change out that would pass it', () => {
  const person = { uuid: 'p', ids: ['a'], properties: new Map<string, unknown>([['old', 1]]) };
  const room = 512 * 1024 - '{"old":1,"new":""}'.length;
  const set = (length: number) =>
    plan([event('a', '$set', { $set: { new: textOfLength(length) } })], known(person));
  expect(set(room).updated[0]?.propertiesText).toHaveLength(512 * 1024);
  expect(set(room).warnings).toEqual({});
  expect(set(room + 1).updated).toEqual([]);
  expect(set(room + 1).warnings).toEqual(violation);
});

test('makes a person without properties of an event that brings too many', () => {
  const result = plan([event('a', 'x', { $set: { big: textOfLength(512 * 1024) } })]);
  expect(result.created).toHaveLength(1);
  expect(visible(result.created[0])).toEqual({});
  expect(result.warnings).toEqual(violation);
});

test.each([false, true])('judges changes event by event, also by the size in the database: %s', (isSized) => {
  const set = (properties: object) => event('a', '$set', { $set: properties });
  const events = [
    set({ first: half, plan: 'pro' }),
    set({ second: half, lost: 1 }),
    set({ city: 'Oslo' }),
    event('a', '$set', { $unset: ['first'] }),
    set({ second: half, found: 1 }),
    set({ third: half }),
    set({ second: 'short' }),
    set({ third: large }),
  ];
  const start = { uuid: 'p', ids: ['a'], properties: new Map<string, unknown>([['old', 1]]) };
  const sized = isSized ? { characters: '{"old": 1}'.length } : {};
  const together = plan(events, known({ ...start, ...sized }));
  expect(visible(together.updated[0])).toEqual({
    old: 1,
    plan: 'pro',
    city: 'Oslo',
    second: 'short',
    found: 1,
    third: large,
  });
  expect(together.warnings).toEqual({ person_properties_size_violation: 2 });

  let person: Person = { ...start, isIdentified: false, createdAt: '2019-01-01T00:00:00.000Z' };
  for (const one of events) person = plan([one], known({ ...person, ids: ['a'] })).updated[0] ?? person;
  expect(visible(person)).toEqual(visible(together.updated[0]));
});

const LIMIT = 512 * 1024;
/** Two of the one, or one of each, are too many; two of the other are not. */
const half = textOfLength(300 * 1024);
const large = textOfLength(240 * 1024);
const merge = () => event('a', '$create_alias', { alias: 'b' });
/** A person `p` of the id `a`, and `q` of `b`. */
const two = (mine: Record<string, unknown>, theirs: Record<string, unknown>) =>
  known(
    { uuid: 'p', ids: ['a'], properties: new Map(Object.entries(mine)) },
    { uuid: 'q', ids: ['b'], properties: new Map(Object.entries(theirs)) },
  );

test('takes over what fits where two persons together have too many properties, and counts the rest', () => {
  const result = plan(
    [merge()],
    two({ mine: half, plan: 'pro' }, { one: large, two: large, email: 'b@x', plan: 'free', city: 'Oslo' }),
  );
  expect(result.merged).toEqual([{ from: 'q', into: 'p' }]);
  expect(result.updated).toMatchObject([{ uuid: 'p', isIdentified: true }]);
  expect(visible(result.updated[0])).toEqual({ mine: half, plan: 'pro', email: 'b@x', city: 'Oslo' });
  expect(result.warnings).toEqual({ merged_properties_left_out: 2 });
});

test('takes over the smallest first, to the last character', () => {
  const value = textOfLength(150 * 1024);
  const taken = (length: number) => {
    const theirs = { c: value, b: value, next: textOfLength(length), small: 1 };
    const result = plan([merge()], two({ mine: half }, theirs));
    const text = result.updated[0]?.propertiesText ?? '';
    return { text, keys: Object.keys(JSON.parse(text) as object), warnings: result.warnings };
  };
  // `b` and `c` are of a size: the first by name finds room, until `next` is one character longer.
  const room = LIMIT - `{"mine":"${half}","small":1,"next":"","b":"${value}"}`.length;
  const full = taken(room);
  expect(full.text).toHaveLength(LIMIT);
  expect(full.keys).toEqual(['mine', 'small', 'next', 'b']);
  expect(full.warnings).toEqual({ merged_properties_left_out: 1 });
  const more = taken(room + 1);
  expect(more.keys).toEqual(['mine', 'small', 'next']);
  expect(more.warnings).toEqual({ merged_properties_left_out: 2 });
});

test('fills a person who has none to the last character', () => {
  const full = textOfLength(LIMIT - '{"x":""}'.length);
  const result = plan(
    [merge(), event('a', '$create_alias', { alias: 'c' })],
    known(
      { uuid: 'p', ids: ['a'] },
      { uuid: 'q', ids: ['b'], properties: new Map([['y', full]]) },
      { uuid: 'r', ids: ['c'], properties: new Map([['x', full]]) },
    ),
  );
  expect(visible(result.updated[0])).toEqual({ x: full });
  expect(result.updated[0]?.propertiesText).toHaveLength(LIMIT);
  expect(result.warnings).toEqual({ merged_properties_left_out: 1 });
});

test('changes of the batch go before what a merge brings', () => {
  const result = plan(
    [merge(), event('a', '$set', { $set: { new: half, email: 'new@x' }, $unset: ['city'] })],
    two({ mine: 1 }, { large: half, email: 'b@x', city: 'Oslo', plan: 'free' }),
  );
  expect(visible(result.updated[0])).toEqual({ mine: 1, new: half, email: 'new@x', plan: 'free' });
  expect(result.warnings).toEqual({ merged_properties_left_out: 1 });
});

test('what an event sets is kept before what a merge brings, also where both are the same', () => {
  const theirs = { one: half, two: half };
  const merged = plan([merge()], two({}, theirs));
  expect(visible(merged.updated[0])).toEqual({ one: half });
  const result = plan([merge(), event('a', '$set', { $set: { two: half, new: 1 } })], two({}, theirs));
  expect(visible(result.updated[0])).toEqual({ two: half, new: 1 });
  expect(result.warnings).toEqual({ merged_properties_left_out: 1 });
});

test.each(['before', 'after'])(
  'a change that would pass the limit %s a merge takes nothing from it',
  (when) => {
    const change = event('a', '$set', { $set: { more: half, email: 'new@x' }, $unset: ['plan'] });
    const result = plan(
      when === 'before' ? [change, merge()] : [merge(), change],
      two({ mine: half }, { large: half, email: 'b@x', plan: 'free' }),
    );
    expect(visible(result.updated[0])).toEqual({ mine: half, email: 'b@x', plan: 'free' });
    expect(result.warnings).toEqual({ ...violation, merged_properties_left_out: 1 });
  },
);

test('a change that would pass the limit of the merged person leaves what they had', () => {
  const result = plan(
    [event('b', '$set', { $set: { bio: textOfLength(LIMIT) } }), merge()],
    two({ mine: 1 }, { bio: 'short' }),
  );
  expect(visible(result.updated[0])).toEqual({ mine: 1, bio: 'short' });
  expect(result.warnings).toEqual(violation);
});

test('keeps what fits of everybody whom a chain of merges brings together', () => {
  const result = plan(
    [event('b', '$create_alias', { alias: 'c' }), event('a', '$merge_dangerously', { alias: 'b' })],
    known(
      { uuid: 'p', ids: ['a'], properties: new Map([['a', half]]) },
      { uuid: 'q', ids: ['b'], properties: new Map(Object.entries({ b: half, who: 'b' })) },
      { uuid: 'r', ids: ['c'], properties: new Map(Object.entries({ c: half, who: 'c', email: 'c@x' })) },
    ),
  );
  expect(result.merged).toEqual([
    { from: 'q', into: 'p' },
    { from: 'r', into: 'p' },
  ]);
  expect(visible(result.updated[0])).toEqual({ a: half, who: 'b', email: 'c@x' });
  expect(result.warnings).toEqual({ merged_properties_left_out: 2 });
});
