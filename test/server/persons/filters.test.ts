import { beforeAll, expect, test } from 'vitest';
import { sql } from '../../../src/server/database/sql.ts';
import type { Paged } from '../../../src/server/http/paging.ts';
import type { PersonBody } from '../../../src/server/persons/schema.ts';
import { findPersons } from '../../../src/server/persons/store.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onBothDatabases } from '../../support/databases.ts';

const NOW = Date.parse('2024-06-15T12:00:00Z');

onBothDatabases('filters of persons', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db(), () => NOW);
    const people: Record<string, object> = {
      ann: { email: 'ann@example.com', plan: 'pro', age: 30, vip: true, joined: '2024-06-01T08:00:00Z' },
      ben: { email: 'Ben@Example.com', plan: 'free', age: 9, vip: false, joined: '2024-06-14' },
      cat: { email: 'cat@other.org', plan: 'Pro plus', age: '30', note: null },
      dan: {},
    };
    await api.send(
      ...Object.entries(people).map(([distinct_id, $set], index) => ({
        event: '$set',
        timestamp: `2024-01-0${9 - index}T00:00:00Z`,
        properties: { distinct_id, $set },
      })),
    );
  });

  /** Ids of who is found, newest first: ann, ben, cat, dan. */
  const find = async (params: Record<string, string>) => {
    const { count, results } = await api.read<Paged<PersonBody>>(
      `persons/?${new URLSearchParams(params).toString()}`,
    );
    expect(count).toBe(results.length);
    return results.map(({ distinct_ids }) => distinct_ids[0]).join(' ');
  };
  const findBy = (properties: unknown) => find({ properties: JSON.stringify(properties) });

  test.each([
    ['exact', 'plan', 'pro', 'ann'],
    ['exact', 'plan', ['pro', 'free'], 'ann ben'],
    ['exact', 'age', 30, 'ann cat'],
    ['exact', 'vip', 'true', 'ann'],
    ['is_not', 'plan', 'pro', 'ben cat dan'],
    ['icontains', 'plan', 'PRO', 'ann cat'],
    ['not_icontains', 'plan', 'PRO', 'ben dan'],
    ['regex', 'email', '^[a-c].*\\.com$', 'ann'],
    ['not_regex', 'email', 'com$', 'cat dan'],
    ['starts_with', 'plan', 'p', 'ann'],
    ['ends_with', 'plan', 'plus', 'cat'],
    ['gt', 'age', 9, 'ann'], // cat's is text, and so is compared as text,
    ['gte', 'age', 30, 'ann cat'],
    ['lt', 'age', 30, 'ben'],
    ['lte', 'age', '9', 'ben cat'],
    ['between', 'age', [1, 10], 'ben'],
    ['is_set', 'note', '', 'cat'],
    ['is_not_set', 'plan', '', 'dan'],
    ['is_date_exact', 'joined', '2024-06-01', 'ann'],
    ['is_date_before', 'joined', '2024-06-10', 'ann'],
    ['is_date_after', 'joined', '-7d', 'ben'],
  ])('%s of %s with %j finds: %s', async (operator, key, value, expected) => {
    expect(await findBy([{ key, operator, value, type: 'person' }])).toBe(expected);
  });

  test('a filter without operator or type is an exact one of the person', async () => {
    expect(await findBy([{ key: 'plan', value: 'free' }])).toBe('ben');
  });

  test('all items of a list hold, and groups say which of theirs', async () => {
    const pro = { key: 'plan', value: 'pro', operator: 'icontains', type: 'person' };
    const young = { key: 'age', value: 10, operator: 'lt', type: 'person' };
    expect(await findBy([pro, young])).toBe('');
    expect(await findBy({ type: 'OR', values: [pro, young] })).toBe('ann ben cat');
    const named = { key: 'email', value: 'example', operator: 'icontains', type: 'person' };
    expect(await findBy({ type: 'AND', values: [{ type: 'OR', values: [pro, young] }, named] })).toBe(
      'ann ben',
    );
  });

  test('every form of the parameter is read: a single item, the oldest dictionary, several parameters', async () => {
    expect(await findBy({ key: 'plan', value: 'pro', type: 'person' })).toBe('ann');
    expect(await findBy({ plan__icontains: 'pro', age: 30 })).toBe('ann cat');
    const items = [
      { key: 'age', value: 30, type: 'person' },
      { key: 'plan', value: 'pro', operator: 'is_not', type: 'person' },
    ];
    const query = items.map((item) => `properties=${encodeURIComponent(JSON.stringify(item))}`).join('&');
    const { results } = await api.read<Paged<PersonBody>>(`persons/?${query}`);
    expect(results.map(({ distinct_ids }) => distinct_ids)).toEqual([['cat']]);
  });

  test('an empty parameter is none', async () => {
    expect(await find({ properties: '', distinct_id: '', email: '', search: '', cohort: '' })).toBe(
      'ann ben cat dan',
    );
    expect(await findBy([])).toBe('ann ben cat dan');
  });

  test('what cannot be asked is refused, and says why', async () => {
    for (const [properties, detail] of [
      ['{', 'Properties are unparsable!'],
      ['[{"key":"a","value":1,"type":"event"}]', 'Filters of type "event" cannot be used here.'],
      ['[{"key":"a","value":1,"operator":"like"}]', 'Operator "like" is not supported.'],
    ]) {
      const response = await api.get(`persons/?properties=${encodeURIComponent(properties ?? '')}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'invalid_input', detail });
    }
  });

  test('members of a cohort are found by its id, alone and among properties', async () => {
    const insert = async (isStatic: boolean, filters: object) => {
      const [row] = await db().query<{ id: number }>(
        `insert into cohorts (project_id, name, is_static, filters) values ($1, 'c', $2, $3) returning id`,
        [api.project.id, isStatic, JSON.stringify(filters)],
      );
      return row?.id ?? 0;
    };
    const pro = [{ key: 'plan', value: 'pro', operator: 'icontains', type: 'person' }];
    const dynamic = await insert(false, {
      properties: { type: 'OR', values: [{ type: 'AND', values: pro }] },
    });
    const fixed = await insert(true, {});
    await db().query(
      `insert into cohort_members (cohort_id, person_id)
       select $1, person_id from person_distinct_ids where project_id = $2 and distinct_id = 'dan'`,
      [fixed, api.project.id],
    );
    expect(await find({ cohort: String(dynamic) })).toBe('ann cat');
    expect(await find({ cohort: String(fixed) })).toBe('dan');
    expect(await find({ cohort: '2147483647' })).toBe('');
    expect(await findBy([{ key: 'id', value: dynamic, type: 'cohort', operator: 'not_in' }])).toBe('ben dan');
    expect(await find({ cohort: String(dynamic), email: 'cat@other.org' })).toBe('cat');
    expect(await (await api.get('persons/?cohort=x')).json()).toMatchObject({
      code: 'invalid_input',
      detail: 'A valid integer is required.',
      attr: 'cohort',
    });
  });

  test('addresses are found by any part in any case, and exactly by the whole, however long', async () => {
    const long = `Ärger${'x'.repeat(400)}@example.com`;
    await api.send({ event: '$set', properties: { distinct_id: 'long', $set: { email: long } } });
    expect(await find({ search: 'ärgerX' })).toBe('long');
    expect(await find({ email: long })).toBe('long');
    expect(await find({ email: `${long}.org` })).toBe('');
    expect(await find({ email: long.toLowerCase() })).toBe('');
    expect(await find({ search: `${long}.org` })).toBe('');
    expect(await find({ search: 'EN@EX', email: 'Ben@Example.com' })).toBe('ben');
    expect(await find({ search: 'long', distinct_id: 'long' })).toBe('long');
    expect(await find({ search: 'long', distinct_id: 'ben' })).toBe('');
    const [ben] = (await api.read<Paged<PersonBody>>('persons/?distinct_id=ben')).results;
    expect(await find({ search: ben?.uuid ?? '' })).toBe('ben');
    // Who matches twice is there once.
    await api.send({
      event: '$set',
      properties: { distinct_id: 'twice@x.org', $set: { email: 'Twice@x.org' } },
    });
    expect(await find({ search: 'twice@x.org' })).toBe('twice@x.org');
    for (const id of ['long', 'twice@x.org']) {
      const [person] = (await api.read<Paged<PersonBody>>(`persons/?distinct_id=${id}`)).results;
      await api.call('DELETE', `persons/${person?.id}/`);
    }
  });

  test('people are found by when they changed', async () => {
    const [row] = await db().query<{ at: string }>('select clock_timestamp() as at');
    const since = { updated_after: row?.at ?? '' };
    expect(await find({ updated_after: '' })).toBe('ann ben cat dan');
    await api.send({ event: '$set', properties: { distinct_id: 'cat', $set: { seen: true } } });
    await api.send({ event: 'seen', properties: { distinct_id: 'ben' } });
    expect(await find(since)).toBe('cat');
    expect(await find({ ...since, search: 'ann' })).toBe('');
    expect(await find({ updated_after: '2020-01-01' })).toBe('ann ben cat dan');
    expect(await find({ updated_after: '9999-01-01T00:00:00+02:00' })).toBe('');
    const refused = await api.get('persons/?updated_after=yesterday');
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ attr: 'updated_after' });
  });

  test('a search that takes too long is refused', async () => {
    const page = { limit: 1, offset: 0 };
    const slow = { condition: sql`pg_sleep(0.05) is not null` };
    const found = await findPersons(db(), api.project.id, slow, page);
    expect(found).toMatchObject({ count: 4, ids: [expect.any(Number)] });
    await expect(findPersons(db(), api.project.id, slow, page, 20)).rejects.toMatchObject({
      status: 400,
      envelope: { code: 'invalid_input', detail: expect.stringMatching(/more than 0.02 seconds/) },
    });
  });

  test('people dated more than a day ahead stay hidden', async () => {
    await db().query(
      `insert into persons (project_id, uuid, properties, is_identified, created_at)
       values ($1, gen_random_uuid(), '{"n": 1}', false, now() + interval '25 hours'),
         ($1, gen_random_uuid(), '{"n": 2}', false, now() + interval '23 hours')`,
      [api.project.id],
    );
    const { count, results } = await api.read<Paged<PersonBody>>('persons/?limit=1');
    expect({ count, newest: results[0]?.properties }).toEqual({ count: 5, newest: { n: 2 } });
    await db().query(`delete from persons where project_id = $1 and properties ? 'n'`, [api.project.id]);
  });
});
