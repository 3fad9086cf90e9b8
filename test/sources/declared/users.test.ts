import { describe, expect, it } from 'vitest';
import { createMapper } from '../create-mapper.ts';

/** The id of a known user that a record names, under the latest version of the mapping or an earlier one. */
function mapUser(type: string, record: object, options: object = {}, version?: number): unknown {
  const outcome = createMapper(type, { ...options }, version === undefined ? {} : { version })({ ...record });
  if (outcome.kind === 'rejected') throw new Error(outcome.detail);
  return outcome.userId;
}

const declared = (column: string | string[]) => ({
  mapping: {
    event: { constant: 'Opened' },
    distinctId: { column },
    anonymousId: { column: 'device' },
    timestamp: { column: 'at' },
  },
});
const at = '2023-03-14T09:26:53Z';

describe('a declared mapping names a user', () => {
  const inTwo = declared(['user', 'device']);
  it.each([
    [{ user: 'u-1' }, 'u-1'],
    [{ user: ' u-1 ', device: 'd-1' }, 'u-1'],
    [{ user: 'd-1', device: 'd-1' }, 'd-1'],
    [{ device: 'd-1' }, undefined],
    [{ user: 'null', device: 'd-1' }, undefined],
  ])('of %j as %j', (record, user) => {
    expect(mapUser('jsonl', { at, ...record }, inTwo)).toBe(user);
    expect(mapUser('jsonl', { at, ...record }, inTwo, 1)).toBeUndefined();
  });

  it('but not where the one column holds the anonymous id itself', () => {
    const inOne = declared('id');
    expect(mapUser('jsonl', { at, id: 'd-1', device: 'd-1' }, inOne)).toBeUndefined();
    expect(mapUser('jsonl', { at, id: 'u-1', device: 'd-1' }, inOne)).toBe('u-1');
    expect(mapUser('jsonl', { at, id: 'u-1' }, inOne)).toBe('u-1');
  });
});

it.each(['track', 'identify', 'group', 'alias'])('a %s call names its userId, alone or not', (type) => {
  const call = { type, event: 'Bought', groupId: 'g', previousId: 'old', timestamp: at };
  for (const source of ['segment', 'rudderstack']) {
    expect(mapUser(source, { ...call, userId: 'u-1' })).toBe('u-1');
    expect(mapUser(source, { ...call, userId: 'u-1', anonymousId: 'a-1' })).toBe('u-1');
    expect(mapUser(source, { ...call, userId: 'u-1' }, {}, 1)).toBeUndefined();
    if (type !== 'alias') expect(mapUser(source, { ...call, anonymousId: 'a-1' })).toBeUndefined();
  }
});

it.each(['Bought', '$identify', 'session_start'])('Amplitude names the user_id of %s', (event_type) => {
  const record = { event_type, event_time: '2023-03-14 09:26:53' };
  expect(mapUser('amplitude', { ...record, user_id: 'u-1' })).toBe('u-1');
  expect(mapUser('amplitude', { ...record, user_id: 'u-1', device_id: 'd-1' })).toBe('u-1');
  expect(mapUser('amplitude', { ...record, device_id: 'd-1' })).toBeUndefined();
  expect(mapUser('amplitude', { ...record, user_id: 'u-1' }, {}, 1)).toBeUndefined();
});
