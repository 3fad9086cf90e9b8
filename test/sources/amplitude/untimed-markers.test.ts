import { expect, it } from 'vitest';
import { createMapper } from '../create-mapper.ts';

const marker = { event_type: 'session_start', user_id: 'ann', event_time: 'yesterday' };
const map = (fields: object, options: Readonly<Record<string, unknown>> = {}, version?: number) =>
  createMapper('amplitude', options, { version })({ ...marker, ...fields });

it.each([
  ['of its person', { user_properties: { plan: 'pro' } }],
  ['of its groups', { group_properties: { org: { acme: { plan: 'pro' } } } }],
  ['which ids are one person', { device_id: 'phone' }],
])('a session marker that says something %s is a reject where its time cannot be read', (_, fields) => {
  expect(map(fields)).toMatchObject({ kind: 'rejected', reason: 'bad_timestamp' });
  expect(map({ ...fields, event_time: '2023-05-01 10:00:00' })).toMatchObject({
    ...{ kind: 'skipped', reason: 'session_marker', facts: [{}] },
  });
  expect(map(fields, {}, 4)).toMatchObject({ kind: 'skipped', reason: 'session_marker' });
});

it('one that says nothing is skipped, and so is one that the manifest drops', () => {
  expect(map({})).toMatchObject({ kind: 'skipped', reason: 'session_marker' });
  expect(map({ device_id: 'phone' }, { dropEvents: ['session_start'] })).toMatchObject({
    ...{ kind: 'skipped', reason: 'excluded_by_manifest' },
  });
});
