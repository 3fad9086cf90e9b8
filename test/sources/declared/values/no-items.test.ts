import { expect, it } from 'vitest';
import { HEARD_TIME } from '../../../../src/contract/heard-time.ts';
import { createMapper } from '../../create-mapper.ts';

/** A record without items has no events, and says of persons and groups what any other says. */

const time = '2023-01-02T00:00:00.000Z';
const mapping = {
  event: { constant: 'Bought' },
  distinctId: { column: 'user' },
  anonymousId: { column: 'dev' },
  timestamp: { column: 'at' },
  person: { set: { prefix: 'p_' } },
  groups: [{ type: 'company', column: 'org', set: { columns: ['size'] } }],
  unnest: { column: 'p_items' },
};
const bob = { user: 'bob', dev: 'tablet', at: time, p_plan: 'pro', org: 'acme', size: 9 };
const pair = { kind: 'pair', anonId: 'tablet', userId: 'bob', time };

it.each([
  ['an empty list', []],
  ['no list', undefined],
  ['the text of an empty list', '[]'],
])('with %s', (_, items) => {
  const record = items === undefined ? bob : { ...bob, p_items: items };
  expect(createMapper('jsonl', { mapping })(record)).toEqual({
    kind: 'skipped',
    reason: 'no_items',
    facts: [
      pair,
      { kind: 'person', distinctId: 'bob', time, set: { plan: 'pro' } },
      { kind: 'group', groupType: 'company', groupKey: 'acme', time, set: { size: 9 } },
    ],
    userId: 'bob',
    seen: undefined,
    of: { timestamp: time },
  });
});

it('is no reject for what its items would have held, and says who used the device', () => {
  const ofItems = { ...mapping, event: { column: 'p_items.name' }, timestamp: { column: 'p_items.at' } };
  expect(createMapper('jsonl', { mapping: ofItems })({ ...bob, p_items: [] })).toMatchObject({
    kind: 'skipped',
    reason: 'no_items',
    facts: [],
    heard: { userIds: ['bob'], facts: [{ ...pair, time: HEARD_TIME }] },
  });
});

it.each([
  ['that is in the items', { event: { column: 'p_items.name' } }, {}],
  ['that is missing', { event: { column: 'name' } }, {}],
  ['of an event that would change persons', { event: { column: 'name' } }, { name: '$identify' }],
])('says all of that without a name %s', (_, named, fields) => {
  const map = (version?: number) => createMapper('jsonl', { mapping: { ...mapping, ...named } }, { version });
  expect(map()({ ...bob, ...fields, p_items: [] })).toMatchObject({
    kind: 'skipped',
    reason: 'no_items',
    facts: [pair, { kind: 'person', set: { plan: 'pro' } }, { kind: 'group', set: { size: 9 } }],
    of: { timestamp: time },
  });
  // Version 4, to which migrations are pinned, lost it.
  expect(map(4)({ ...bob, ...fields, p_items: [] })).toMatchObject({ reason: 'no_items', facts: [] });
});

const bad = [
  ['a time that cannot be read', { at: 'soon' }, 'bad_timestamp'],
  ['an id that is too long', { user: 'x'.repeat(201) }, 'id_too_long'],
  ['the key of a group that is too long', { org: 'x'.repeat(201) }, 'id_too_long'],
] as const;

it.each(bad)('is a reject with %s, to be replayed', (_, fields, reason) => {
  const map = (more: object, version?: number) =>
    createMapper('jsonl', { mapping: { ...mapping, ...more } }, { version })({ ...bob, ...fields });
  expect(map({})).toMatchObject({ kind: 'rejected', reason, heard: { userIds: [expect.any(String)] } });
  expect(map({}, 4)).toMatchObject({ kind: 'skipped', reason: 'no_items' });
});

it('is no reject where the manifest reads nothing of persons and groups but ids', () => {
  const { anonymousId: _, person: _set, groups: _groups, ...plain } = mapping;
  const map = createMapper('jsonl', { mapping: plain });
  for (const [, fields] of bad)
    expect(map({ ...bob, ...fields })).toMatchObject({ kind: 'skipped', reason: 'no_items' });
});

it('is no reject without a time or an id, which its items may have', () => {
  const map = createMapper('jsonl', { mapping });
  for (const fields of [{ at: undefined }, { user: undefined }])
    expect(map({ ...bob, ...fields })).toMatchObject({ kind: 'skipped', reason: 'no_items' });
});

it('says of a dropped event no more than who is who', () => {
  const map = createMapper('jsonl', { mapping, dropEvents: ['Bought'] });
  expect(map(bob)).toMatchObject({ reason: 'no_items', facts: [pair], userId: 'bob' });
});
