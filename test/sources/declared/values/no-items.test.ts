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

it('says of a dropped event no more than who is who', () => {
  const map = createMapper('jsonl', { mapping, dropEvents: ['Bought'] });
  expect(map(bob)).toMatchObject({ reason: 'no_items', facts: [pair], userId: 'bob' });
});
