import { expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import type { Item } from '../../support/stored-rows.ts';

/** What events make of groups, in the rows. */
onEveryDatabase('groups', (db) => {
  const groupsOf = async (own: TestApi) =>
    db().query<{ type: string; key: string; properties: string }>(
      `select t.group_type as type, g.group_key as key, g.properties from groups g
       join group_types t on t.project_id = g.project_id and t.index = g.group_type_index
       where g.project_id = $1 order by t.index, g.group_key`,
      [own.project.id],
    );

  test('of five types are known by the order in which they came; a sixth is ignored', async () => {
    const own = await createTestApi(db());
    const describeGroup = (type: string): Item => ({
      event: '$groupidentify',
      distinct_id: 'd',
      properties: { $group_type: type, $group_key: 'k', $group_set: { name: type } },
    });
    await own.send(describeGroup('e'), {
      event: 'x',
      distinct_id: 'd',
      properties: { $groups: { d: 1, c: 'k' } },
    });
    await own.send(describeGroup('b'), describeGroup('a'), describeGroup('sixth'));
    await own.send({
      event: 'all',
      distinct_id: 'd',
      properties: { $groups: { a: 'A', e: 'E', sixth: 'S' } },
    });
    expect((await groupsOf(own)).map(({ type }) => type)).toEqual(['e', 'b', 'a']);
    const rows = await db().query<{ properties: string }>(
      `select properties from events where project_id = $1 and event in ('x', 'all') order by event`,
      [own.project.id],
    );
    const marks = rows.map(({ properties }) =>
      Object.entries(JSON.parse(properties) as Item).filter(([name]) => /^\$group_\d$/.test(name)),
    );
    expect(marks.map((entries) => Object.fromEntries(entries))).toEqual([
      { $group_0: 'E', $group_4: 'A' },
      { $group_1: '1', $group_2: 'k' },
    ]);
  });

  test('keep what is small beside what finds no room, sent together or apart', async () => {
    const half = 'x'.repeat(300_000);
    const describeGroup = (set: object): Item => ({
      event: '$group_identify',
      distinct_id: 'd',
      properties: { $group_type: 'company', $group_key: 'k', $group_set: set },
    });
    const events = [{ first: half }, { second: half }, { huge: half + half }, { city: 'Oslo' }].map(
      describeGroup,
    );
    for (const requests of [[events], events.map((one) => [one])]) {
      const own = await createTestApi(db());
      for (const request of requests) await own.send(...request);
      const [group] = await groupsOf(own);
      expect(JSON.parse(group?.properties ?? '')).toEqual({ first: half, city: 'Oslo' });
    }
  });

  test('are made by their own events only, key by key, and need a type and a key', async () => {
    const own = await createTestApi(db());
    await own.send(
      { event: 'x', distinct_id: 'd', properties: { $groups: { company: 'only-member' } } },
      {
        event: '$group_identify',
        distinct_id: 'd',
        properties: { $group_type: 'company', $group_key: 7, $group_set: { a: { x: 1 }, b: 1 } },
      },
      {
        event: '$group_identify',
        distinct_id: 'd',
        properties: { $group_type: 'company', $group_key: '7', $group_set: { a: { y: 2 } } },
      },
      {
        event: '$group_identify',
        distinct_id: 'd',
        properties: { $group_type: 'company', $group_set: { a: 1 } },
      },
      { event: '$group_identify', distinct_id: 'd', properties: { $group_key: 'k', $group_set: { a: 1 } } },
      {
        event: 'other',
        distinct_id: 'd',
        properties: { $group_type: 'company', $group_key: 'no', $group_set: { a: 1 } },
      },
    );
    expect((await groupsOf(own)).map((row) => ({ ...row, properties: JSON.parse(row.properties) }))).toEqual([
      { type: 'company', key: '7', properties: { a: { y: 2 }, b: 1 } },
    ]);
  });
});
