import { expect, test } from 'vitest';
import { toHeard } from '../../../src/contract/heard.ts';
import { mapped, rejected, skipped } from '../../../src/contract/outcome.ts';
import { countSampledPeople } from '../../../src/migrations/plan/sample-people.ts';
import { targetEvent } from './plan-input.ts';

const time = '2023-05-01T12:00:00.000Z';
const by = (id: string) => targetEvent('Signed up', { properties: { distinct_id: id } });
const pair = (anonId: string, userId: string) => ({ kind: 'pair', anonId, userId, time }) as const;

test('counts different ids, merges, shared devices and groups', () => {
  const outcomes = [
    mapped([by('ada')], [pair('device-1', 'ada')]),
    mapped([by('ada'), by('device-2')], [pair('device-1', 'ada'), pair('tablet', 'ada')]),
    mapped([by('bob')], [pair('tablet', 'bob')]),
    skipped('feeds_people', [{ kind: 'person', distinctId: 'ada', time, set: { plan: 'pro' } }]),
    skipped('feeds_groups', [{ kind: 'group', groupType: 'company', groupKey: 'x', time, set: {} }]),
    skipped('feeds_groups', [{ kind: 'group', groupType: 'team', groupKey: 'x', time, set: {} }]),
    rejected('no_identity', 'user_id is empty'),
  ];
  expect(countSampledPeople(outcomes)).toEqual({
    distinctIds: 3,
    merges: 1,
    shared: 1,
    withProperties: 1,
    groups: 2,
  });
});

test('counts the users of a device that are only heard, and no device of which nothing else is said', () => {
  const heard = (anonId: string, userId: string) => ({
    ...rejected('bad_timestamp', 'soon'),
    heard: toHeard({ facts: [pair(anonId, userId)] }),
  });
  const outcomes = [
    mapped([by('ada')], [pair('tablet', 'ada')]),
    mapped([by('ada')], [pair('phone', 'ada')]),
    heard('tablet', 'bob'),
    heard('phone', 'ada'),
    heard('gone', 'ada'),
  ];
  expect(countSampledPeople(outcomes)).toMatchObject({ distinctIds: 1, merges: 1, shared: 1 });
});
