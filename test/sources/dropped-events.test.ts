import { expect, it } from 'vitest';
import { createMapper } from './create-mapper.ts';

/** An event that is left behind still says who used the device: a device of several users is merged into none. */

const TIME = '2024-02-03T04:05:06.000Z';
const amplitude = {
  event_type: 'Heartbeat',
  event_time: '2024-02-03 04:05:06.000000',
  app: 1,
  amplitude_id: 22,
  user_id: 'bob',
  device_id: 'tablet',
  user_properties: { plan: 'pro' },
  groups: { company: ['Acme'] },
  group_properties: { company: { Acme: { size: 9 } } },
};
const call = {
  type: 'track',
  event: 'Heartbeat',
  messageId: 'm-1',
  userId: 'bob',
  anonymousId: 'tablet',
  timestamp: TIME,
  context: { traits: { plan: 'pro' } },
};
const row = { e: 'Heartbeat', u: 'bob', d: 'tablet', t: TIME, plan: 'pro' };
const mapping = {
  event: { column: 'e' },
  distinctId: { column: 'u' },
  anonymousId: { column: 'd' },
  timestamp: { column: 't' },
  person: { set: { columns: ['plan'] } },
};

it.each([
  ['amplitude', amplitude, {}, { person: '22 of project 1', id: 'bob', isUser: true, time: TIME }],
  [
    'amplitude',
    { ...amplitude, event_type: '$identify' },
    {},
    { person: '22 of project 1', id: 'bob', isUser: true, time: TIME },
  ],
  ['segment', call, {}, { person: undefined, id: 'bob', isUser: true, beside: 'tablet', time: TIME }],
  [
    'segment',
    { ...call, type: 'page' },
    {},
    { person: undefined, id: 'bob', isUser: true, beside: 'tablet', time: TIME },
  ],
  ['rudderstack', call, {}, { person: undefined, id: 'bob', isUser: true, beside: 'tablet', time: TIME }],
  ['jsonl', row, { mapping }, undefined],
  ['csv', row, { mapping }, undefined],
])(
  'of %s, an event that is dropped says who used the device, and nothing else',
  (type, record, options, seen) => {
    const dropEvents = ['Heartbeat', '$identify', '$pageview'];
    const outcome = createMapper(type, { ...options, dropEvents })(record);
    expect(outcome).toMatchObject({
      kind: 'skipped',
      reason: 'excluded_by_manifest',
      facts: [{ kind: 'pair', anonId: 'tablet', userId: 'bob', time: TIME }],
      userId: 'bob',
    });
    expect(outcome.kind === 'skipped' && outcome.facts).toHaveLength(1);
    expect(outcome.kind === 'skipped' && outcome.seen).toEqual(seen);
  },
);

it.each([
  ['amplitude', { ...amplitude, event_time: 'soon' }, {}],
  ['amplitude', { ...amplitude, user_id: null, device_id: null }, {}],
  ['amplitude', { ...amplitude, event_type: '$groupidentify' }, {}],
  ['segment', { ...call, timestamp: 'soon' }, {}],
  ['segment', { ...call, userId: null, anonymousId: null }, {}],
  ['jsonl', { ...row, t: 'soon' }, { mapping }],
  ['csv', { ...row, u: '' }, { mapping }],
])('of %s, one that is dropped is no reject, and may say nothing', (type, record, options) => {
  const dropEvents = ['Heartbeat', '$groupidentify'];
  expect(createMapper(type, { ...options, dropEvents })(record)).toMatchObject({
    kind: 'skipped',
    reason: 'excluded_by_manifest',
    facts: [],
    userId: undefined,
  });
});

it('of a list whose items are of several users, all dropped, each is a user', () => {
  const map = createMapper('jsonl', {
    mapping: {
      ...mapping,
      event: { column: 'l.e' },
      distinctId: { column: 'l.u' },
      anonymousId: undefined,
      person: undefined,
      unnest: { column: 'l' },
    },
    dropEvents: ['Heartbeat'],
  });
  const l = ['alice', 'bob', 'carol'].map((u) => ({ e: 'Heartbeat', u }));
  expect(map({ t: TIME, l })).toMatchObject({
    reason: 'excluded_by_manifest',
    userId: 'alice',
    otherUserIds: ['bob', 'carol'],
  });
});
