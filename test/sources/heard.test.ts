import { describe, expect, it } from 'vitest';
import { HEARD_TIME } from '../../src/contract/heard-time.ts';
import { createMapper } from './create-mapper.ts';

/** What records say about who is who whose facts do not count: it keeps a device of several users apart (I11). */

const PAIR = { kind: 'pair', anonId: 'tablet', userId: 'bob', time: HEARD_TIME };
const HEARD = { userIds: ['bob'], facts: [PAIR], seen: [] };
const LONG = 'x'.repeat(201);
const at = '2023-01-02T00:00:00Z';

const event = {
  event_type: 'Opened',
  event_time: '2023-01-02 00:00:00',
  user_id: 'bob',
  device_id: 'tablet',
  amplitude_id: 7,
};
const call = {
  type: 'track',
  event: 'Opened',
  userId: 'bob',
  anonymousId: 'tablet',
  messageId: 'm',
  timestamp: at,
};
const row = { ev: 'Opened', user: 'bob', dev: 'tablet', at };
const mapping = {
  event: { column: 'ev' },
  distinctId: { column: 'user' },
  anonymousId: { column: 'dev' },
  timestamp: { column: 'at' },
};
const items = { mapping: { ...mapping, event: { column: 'items.ev' }, unnest: { column: 'items' } } };

describe('a record that is rejected says who used the device', () => {
  it.each([
    ['jsonl', 'no_timestamp', { mapping }, { ...row, at: '' }],
    ['jsonl', 'bad_timestamp', { mapping }, { ...row, at: 'soon' }],
    ['csv', 'no_event_name', { mapping }, { ...row, ev: '' }],
    ['jsonl', 'event_name_too_long', { mapping }, { ...row, ev: LONG }],
    ['jsonl', 'bad_field', { mapping: { ...mapping, types: { n: 'number' } } }, { ...row, n: 'many' }],
    ['jsonl', 'bad_field', { mapping: { ...mapping, spreadColumns: ['more'] } }, { ...row, more: 'none' }],
    [
      'jsonl',
      'id_too_long',
      { mapping: { ...mapping, groups: [{ type: 'company', column: 'org' }] } },
      { ...row, org: LONG },
    ],
    ['jsonl', 'bad_field', items, { ...row, items: 'none' }],
    ['segment', 'bad_timestamp', {}, { ...call, timestamp: 'soon' }],
    ['segment', 'no_event_name', {}, { ...call, event: '' }],
    ['segment', 'bad_field', {}, { ...call, properties: 'none' }],
    ['segment', 'bad_field', {}, { ...call, type: 'identify', traits: 'none' }],
    ['segment', 'bad_field', {}, { ...call, type: 'group' }],
    ['segment', 'id_too_long', {}, { ...call, type: 'group', groupId: LONG }],
    ['segment', 'no_identity', {}, { ...call, type: 'alias' }],
    ['rudderstack', 'bad_field', {}, { ...call, type: 'video' }],
  ])('of %s: %s', (type, reason, options, record) => {
    expect(createMapper(type, options)(record)).toMatchObject({ kind: 'rejected', reason, heard: HEARD });
  });

  it.each([
    ['bad_timestamp', { ...event, event_time: 'soon' }],
    ['no_event_name', { ...event, event_type: '' }],
    ['bad_field', { ...event, event_properties: 7 }],
  ])('of amplitude, and of which person: %s', (reason, record) => {
    const seen = [{ person: '7', id: 'bob', isUser: true, time: HEARD_TIME }];
    const heard = { ...HEARD, seen };
    expect(createMapper('amplitude')(record)).toMatchObject({ kind: 'rejected', reason, heard });
    // The person is no id: version 2 takes it for one where there is none.
    expect(createMapper('amplitude', {}, { version: 2 })(record)).toMatchObject({ reason, heard: HEARD });
  });

  it('under the id that an alias call or a merge names', () => {
    const alias = { ...call, type: 'alias', previousId: 'phone', timestamp: 'soon' };
    const phone = { ...PAIR, anonId: 'phone' };
    expect(createMapper('segment')(alias)).toMatchObject({ heard: { facts: [PAIR, phone] } });
    const mergeProperties = [{ type: 'anonymousId', value: 'phone' }];
    const merge = { ...alias, type: 'merge', mergeProperties };
    expect(createMapper('rudderstack')(merge)).toMatchObject({ heard: { facts: [PAIR, phone] } });
  });

  it('and that two persons of the vendor are one, whenever that was found', () => {
    const merged = { amplitude_id: 1, merged_amplitude_id: 2, merge_event_time: 'soon' };
    const join = { kind: 'join', person: '1', into: '2', time: HEARD_TIME };
    expect(createMapper('amplitude')(merged)).toMatchObject({
      reason: 'bad_timestamp',
      heard: { facts: [join], userIds: [] },
    });
  });

  it('in each of its items', () => {
    const ofItems = { ...mapping, distinctId: { column: 'items.user' }, unnest: { column: 'items' } };
    const map = createMapper('jsonl', { mapping: ofItems });
    const carol = { ...PAIR, userId: 'carol' };
    const heard = { userIds: ['bob', 'carol'], facts: [PAIR, carol], seen: [] };
    const users = [{ user: 'bob' }, { user: 'carol' }];
    expect(map({ ...row, at: '', items: users })).toMatchObject({ reason: 'no_timestamp', heard });
    expect(map({ ...row, items: [...users, null] })).toMatchObject({ reason: 'bad_field', heard });
    const many = [...users, ...Array.from({ length: 1_000 }, () => ({}))];
    expect(map({ ...row, items: many })).toMatchObject({ reason: 'bad_field', heard });
    expect(map({ ...row, items: [{ user: 'bob' }, { user: 'carol' }, { user: '' }] })).toMatchObject({
      reason: 'no_identity',
      heard,
    });
  });

  it.each([
    ['jsonl', { mapping }, { ...row, user: LONG + LONG }],
    ['segment', {}, { ...call, userId: LONG + LONG }],
    ['amplitude', {}, { ...event, user_id: LONG + LONG, amplitude_id: undefined }],
  ])('of %s, although the id of the user is longer than can be sent', (type, options, record) => {
    expect(createMapper(type, options)(record)).toMatchObject({
      reason: 'id_too_long',
      heard: { userIds: [LONG], facts: [{ ...PAIR, userId: LONG }] },
    });
  });

  it('by hashes alone, where ids are hashed', () => {
    const hash = { columns: ['user', 'about.user'], key: '${BACKHAUL_HASH_KEY}' };
    const settings = { hashKey: 'a key of at least sixteen characters' };
    const direct = createMapper('jsonl', { mapping: { ...mapping, hash } }, settings)({ ...row, at: '' });
    expect(direct).toMatchObject({
      heard: { facts: [{ anonId: 'tablet', userId: expect.stringMatching(/^[0-9a-f]{64}$/) }] },
    });
    // What cannot be read cannot be hashed.
    const inText = {
      ...mapping,
      distinctId: { column: ['about.user', 'about'] },
      jsonColumns: ['about'],
      hash,
    };
    const broken = createMapper('jsonl', { mapping: inText }, settings)({ ...row, about: '{"user":"bob"' });
    expect(broken).toMatchObject({ kind: 'rejected', reason: 'bad_field' });
    expect(broken).not.toHaveProperty('heard');
  });
});

describe('a record that is left out without a time that can be read', () => {
  const options = { dropEvents: ['Opened'] };
  it.each([
    ['jsonl', { mapping, ...options }, { ...row, at: '' }, {}],
    ['csv', { mapping, ...options }, { ...row, at: 'soon' }, { version: 2 }],
    ['segment', options, { ...call, timestamp: 'soon' }, {}],
    ['segment', options, call, { version: 1 }],
    ['amplitude', options, { ...event, event_time: '' }, {}],
    ['amplitude', {}, { ...event, event_type: 'session_start', event_time: '' }, { version: 4 }],
    ['amplitude', options, event, { version: 1 }],
  ])('is no reject, and says who used the device: %s', (type, own, record, settings) => {
    const outcome = createMapper(type, own, settings)(record);
    expect(outcome).toMatchObject({ kind: 'skipped', facts: [], heard: { userIds: ['bob'], facts: [PAIR] } });
  });
});

it.each([
  ['jsonl', { mapping }, { ...row, user: '', at: '' }],
  ['segment', {}, { ...call, userId: 'null', anonymousId: null, timestamp: 'soon' }],
  ['amplitude', {}, { ...event, event_type: '$groupidentify', event_time: 'soon' }],
])('nothing is heard where a record of %s names nobody', (type, options, record) => {
  expect(createMapper(type, options)(record)).not.toHaveProperty('heard');
});
