import { expect, test } from 'vitest';
import { ExactNumber } from '../../../../src/lib/json/exact-number.ts';
import type { IncomingEvent } from '../../../../src/server/capture/incoming-event.ts';
import { planGroups } from '../../../../src/server/capture/ingest/plan-groups.ts';

const event = (
  uuid: string,
  name: string,
  properties: Record<string, unknown>,
  timestamp = '2020-01-01T00:00:00.000Z',
): IncomingEvent => ({
  uuid,
  event: name,
  distinctId: 'd',
  timestamp,
  properties,
  propertiesText: Buffer.from(''),
});

test.each(['$groupidentify', '$group_identify'])(
  '%s describes a group, later values over earlier ones',
  (name) => {
    const plan = planGroups(
      [
        event('1', name, { $group_type: 'company', $group_key: 7, $group_set: { a: 1, b: 1 } }),
        event(
          '2',
          name,
          { $group_type: 'company', $group_key: '7', $group_set: { b: 2 } },
          '2019-01-01T00:00:00.000Z',
        ),
      ],
      [],
    );
    expect(plan.newTypes).toEqual([{ groupType: 'company', index: 0 }]);
    expect(plan.groups).toEqual([
      {
        typeIndex: 0,
        key: '7',
        propertiesText: '{"a":1,"b":2}',
        createdAt: '2019-01-01T00:00:00.000Z',
      },
    ]);
  },
);

test('marks an event with its groups and makes no group of it', () => {
  const marked = event('1', 'x', { $groups: { team: 'red', company: 'acme' } });
  const plan = planGroups([marked], ['company']);
  expect(plan.newTypes).toEqual([{ groupType: 'team', index: 1 }]);
  expect(plan.groups).toEqual([]);
  expect(plan.marks.get(marked)).toEqual(
    new Map([
      ['$group_1', 'red'],
      ['$group_0', 'acme'],
    ]),
  );
});

test('knows five types and ignores the sixth', () => {
  const groups = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((type) => [type, 'k']));
  const marked = event('1', 'x', { $groups: groups });
  const plan = planGroups([marked], []);
  expect(plan.newTypes.map(({ groupType }) => groupType)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(plan.marks.get(marked)?.size).toBe(5);
});

test.each([
  [{ $group_key: 'k' }],
  [{ $group_type: 'company' }],
  [{ $group_type: 'company', $group_key: '' }],
  [{ $group_type: 'company', $group_key: 'k'.repeat(401) }],
])('leaves %o without a group', (properties) => {
  expect(planGroups([event('1', '$groupidentify', properties)], []).groups).toEqual([]);
});

test('takes a key of 400 characters, and a group without properties', () => {
  const plan = planGroups(
    [event('1', '$groupidentify', { $group_type: 't', $group_key: 'k'.repeat(400) })],
    [],
  );
  expect(plan.groups).toMatchObject([{ key: 'k'.repeat(400), propertiesText: '{}' }]);
});

test('takes names of types up to 400 characters, and ignores longer ones', () => {
  const groups = { ['t'.repeat(400)]: 'k', ['u'.repeat(401)]: 'k', '': 'k' };
  const marked = event('1', 'x', { $groups: groups });
  const plan = planGroups([marked], []);
  expect(plan.newTypes).toEqual([{ groupType: 't'.repeat(400), index: 0 }]);
});

test('takes 512 KiB of properties for a group, as Postgres writes them, and leaves more out', () => {
  const properties = (length: number) => ({ a: 'x'.repeat(length - '{"a":""}'.length) });
  const planned = (set: object) =>
    planGroups(
      [event('1', '$groupidentify', { $group_type: 't', $group_key: 'k', $group_set: set })],
      [],
    ).groups.map(({ propertiesText }) => propertiesText.length);
  expect(planned(properties(512 * 1024))).toEqual([512 * 1024]);
  expect(planned(properties(512 * 1024 + 1))).toEqual(['{}'.length]);
  const exponents = Array.from({ length: 1400 }, () => new ExactNumber('1e400'));
  expect(planned({ exponents })).toEqual(['{}'.length]);
});
