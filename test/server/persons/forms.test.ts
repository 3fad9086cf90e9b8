import Papa from 'papaparse';
import { beforeAll, expect, test } from 'vitest';
import type { Paged } from '../../../src/server/http/paging.ts';
import type { PersonBody } from '../../../src/server/persons/schema.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

onEveryDatabase('answers about persons', (db) => {
  let api: TestApi;
  let ada: PersonBody;
  beforeAll(async () => {
    api = await createTestApi(db());
    const person = (id: string, day: number, $set: object) => ({
      event: '$set',
      timestamp: `2020-01-0${day}T00:00:00Z`,
      properties: { distinct_id: id, $set },
    });
    await api.post(
      '/batch/',
      JSON.stringify({
        api_key: api.project.projectKey,
        historical_migration: true,
        batch: [
          person('ada', 1, { email: 'ada@example.com', $browser: 'Fire, "fox"', big: 'BIG', list: [1, 'x'] }),
          person('=bob', 2, { email: '@bob', flag: true, list: [1, 'x'], number: '7' }),
          person('cy', 3, { flag: false, number: 7, nested: { b: 1, aa: [null] }, none: null, empty: '' }),
        ],
      }).replace('"BIG"', '1234567890123456789'),
    );
    const { results } = await api.read<Paged<PersonBody>>('persons/?distinct_id=ada');
    if (results[0] === undefined) throw new Error('Ada is missing');
    ada = results[0];
  });

  async function csv(path: string, headers: Record<string, string> = {}, method = 'GET', body?: unknown) {
    const response = await api.call(method, path, body, headers);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(/\r\n$/);
    const { data, meta, errors } = Papa.parse<Record<string, string>>(text.slice(0, -2), { header: true });
    expect(errors).toEqual([]);
    return { rows: data, columns: meta.fields ?? [], text, headers: response.headers };
  }

  test('the list is a table: a line of names in order, and one line a person', async () => {
    const { rows, columns, text, headers } = await csv('persons/?format=csv');
    expect(headers.get('content-disposition')).toBe('attachment; filename="persons.csv"');
    expect(columns).toEqual([
      'created_at',
      'distinct_ids.0',
      'id',
      'name',
      'properties.$browser',
      'properties.$creator_event_uuid',
      'properties.big',
      'properties.email',
      'properties.empty',
      'properties.flag',
      'properties.list.0',
      'properties.list.1',
      'properties.nested.aa.0',
      'properties.nested.b',
      'properties.none',
      'properties.number',
      'uuid',
    ]);
    expect(rows.map((row) => row['distinct_ids.0'])).toEqual(['cy', "'=bob", 'ada']);
    expect(rows[2]).toMatchObject({
      id: String(ada.id),
      created_at: '2020-01-01T00:00:00.000Z',
      'properties.$browser': 'Fire, "fox"',
      'properties.big': '1234567890123456789',
      'properties.flag': '',
    });
    expect(rows[1]).toMatchObject({ name: "'@bob", 'properties.email': "'@bob", 'properties.flag': 'true' });
    expect(text).toContain('"Fire, ""fox"""');
  });

  test('a table respects the filters, and has its names even without persons', async () => {
    const one = await csv('persons/?format=csv&email=ada@example.com');
    expect(one.rows.map((row) => row['name'])).toEqual(['ada@example.com']);
    expect(one.columns).not.toContain('properties.flag');
    expect((await csv('persons/?format=csv&distinct_id=nobody')).text).toBe('created_at,id,name,uuid\r\n');
  });

  test('the form is chosen by parameter, by the ending of the path, and by Accept', async () => {
    const { text } = await csv('persons/?format=csv');
    expect((await csv('persons.csv')).text).toBe(text);
    expect((await csv('persons/', { accept: 'text/csv' })).text).toBe(text);
    expect((await csv('persons/?format=', { accept: 'text/csv, application/json;q=0.5' })).text).toBe(text);
    for (const [path, accept] of [
      ['persons/?format=json', 'text/csv'],
      ['persons.csv?format=json', '*/*'],
      ['persons/', 'application/json, text/csv;q=0.9'],
      ['persons/', 'text/html,application/xhtml+xml,*/*;q=0.8'],
    ] as const) {
      const response = await api.call('GET', path, undefined, { accept });
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toMatchObject({ count: 3 });
    }
    expect((await api.get('persons/')).headers.get('vary')).toBe('Accept');
  });

  test.each([
    ['GET', 'persons/'],
    ['GET', 'persons.csv'],
    ['GET', 'persons/1/'],
    ['GET', 'persons/values/'],
    ['GET', 'persons/activity/'],
    ['GET', 'persons/1/activity/'],
    ['PATCH', 'persons/1/', { properties: { wrong: 1 } }],
    ['DELETE', 'persons/1/'],
    ['POST', 'persons/1/update_property/', { key: 'wrong', value: 1 }],
    ['POST', 'persons/1/delete_property/', { $unset: 'email' }],
    ['POST', 'persons/1/split/', {}],
  ])('%s %s takes no other format, and does nothing then', async (method, path, body?: unknown) => {
    const before = await api.read('persons/');
    for (const format of ['xml', 'CSV']) {
      const refused = await api.call(method, `${path.replace('1', String(ada.id))}?format=${format}`, body);
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        code: 'invalid_choice',
        detail: `"${format}" is not a valid choice.`,
        attr: 'format',
      });
    }
    expect(await api.read('persons/')).toEqual(before);
  });

  test('an error is JSON with its status, whatever form was asked for', async () => {
    const missing = await api.get('persons/2147483647/?format=csv');
    expect(missing.status).toBe(404);
    expect(missing.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await missing.json()).toMatchObject({ code: 'not_found' });
    expect((await api.get('persons/?format=csv&properties={')).status).toBe(400);
    expect((await api.call('PATCH', `persons/${ada.id}/?format=csv`, {})).status).toBe(400);
  });

  test('one person, values, logs and changed persons are tables too', async () => {
    const one = await csv(`persons/${ada.id}/?format=csv`);
    expect(one.headers.get('content-disposition')).toBe(`attachment; filename="persons-${ada.id}.csv"`);
    expect(one.rows).toMatchObject([{ uuid: ada.uuid, 'properties.big': '1234567890123456789' }]);

    expect((await csv('persons/values/?key=flag&format=csv')).text).toBe(
      'count,name\r\n1,false\r\n1,true\r\n',
    );
    const none = await api.get('persons/values/?key=missing&format=csv');
    expect([none.status, await none.text()]).toEqual([200, '']);

    const set = await csv(`persons/${ada.id}/?format=csv`, {}, 'PATCH', { properties: { seen: 1 } });
    expect(set.rows).toMatchObject([{ uuid: ada.uuid, 'properties.seen': '1' }]);
    const path = `persons/${ada.id}/`;
    const update = await csv(`${path}update_property/?format=csv`, {}, 'POST', { key: 'seen', value: '-2' });
    expect(update.rows).toMatchObject([{ 'properties.seen': "'-2", success: 'true' }]);
    const gone = await csv(`${path}delete_property/?format=csv`, {}, 'POST', { $unset: 'seen' });
    expect(gone.columns).not.toContain('properties.seen');
    await api.send({ event: '$identify', properties: { distinct_id: 'ada', $anon_distinct_id: 'ada-anon' } });
    const split = await csv(`${path}split/?format=csv`, {}, 'POST', { main_distinct_id: 'ada' });
    expect(split.rows).toHaveLength(1);

    for (const log of ['persons/activity/', `${path}activity/`]) {
      const { rows } = await csv(`${log}?format=csv&limit=2&page=2`);
      expect(rows.map((row) => row['activity'])).toEqual([
        'split_person',
        'delete_property',
        'updated',
        'updated',
      ]);
      expect(rows[0]).toMatchObject({
        'user.email': 'owner@backhaul.invalid',
        'detail.changes.0.after.distinct_ids.0': 'ada',
        item_id: String(ada.id),
      });
    }
  });

  test('values come with how many have them, the most frequent first', async () => {
    const values = (query: string) => api.read(`persons/values/?${query}`);
    expect(await values('')).toEqual([]);
    expect(await values('key=')).toEqual([]);
    expect(await values('key=list')).toEqual([{ name: '[1, "x"]', count: 2 }]);
    expect(await values('key=nested')).toEqual([{ name: '{"aa": [null], "b": 1}', count: 1 }]);
    expect(await values('key=number')).toEqual([{ name: '7', count: 2 }]);
    expect(await values('key=big')).toEqual([{ name: '1234567890123456789', count: 1 }]);
    expect(await values('key=none')).toEqual([]);
    expect(await values('key=empty')).toEqual([]);
    expect(await values('key=email&value=ADA')).toEqual([{ name: 'ada@example.com', count: 1 }]);
    expect(await values('key=email&value=%25')).toEqual([]);
    expect(await values('key=flag&value=')).toHaveLength(2);
  });

  test('twenty values are told at most', async () => {
    const many = await createTestApi(db());
    const event = (index: number, v: number) => ({
      event: 'e',
      properties: { distinct_id: `p${index}`, $set: { v } },
    });
    const often = Array.from({ length: 3 }, (_, index) => event(100 + index, 21));
    await many.send(...often, ...Array.from({ length: 21 }, (_, index) => event(index, index)));
    const values = await many.read<{ name: string; count: number }[]>('persons/values/?key=v');
    expect(values).toHaveLength(20);
    expect(values[0]).toEqual({ name: '21', count: 3 });
  });

  test('a table continues to the last person, or has those of its page', async () => {
    const many = await createTestApi(db());
    await insertPersons(many.project.id, 10_001);
    const names = async (query: string) => {
      const lines = (await (await many.get(`persons/?format=csv${query}`)).text()).split('\r\n');
      expect(lines[0]?.split(',').at(2)).toBe('name');
      return lines.slice(1, -1).map((line) => line.split(',').at(2)); // nothing behind the last line break
    };
    const all = await names('');
    expect([all.length, all[0], all.at(-1)]).toEqual([10_001, '10001', '1']);
    expect(await names('&limit=2')).toEqual(['10001', '10000']);
    expect(await names('&limit=2&offset=9999')).toEqual(['2', '1']);
    expect(await names('&offset=10000')).toEqual(['1']);
  });

  test('a page larger than what is held at once comes whole, and in order', async () => {
    const many = await createTestApi(db());
    await insertPersons(many.project.id, 450);
    const page = await many.read<Paged<PersonBody>>('persons/?limit=449');
    expect(page.results.map(({ properties }) => properties['name'])).toEqual(
      Array.from({ length: 449 }, (_, index) => String(450 - index)),
    );
    expect(page).toMatchObject({ count: 450, previous: null, next: expect.stringMatching(/offset=449$/) });
    const all = await many.read<Paged<PersonBody>>('persons/?limit=999999999');
    expect(all).toMatchObject({ count: 450, next: null });
    expect(all.results).toHaveLength(450);
    for (const limit of [200, 201, 400, 401]) {
      expect((await many.read<Paged<PersonBody>>(`persons/?limit=${limit}`)).results).toHaveLength(limit);
    }
  });

  const insertPersons = (projectId: number, count: number) =>
    db().query(
      `insert into persons (project_id, uuid, properties, is_identified, created_at)
       select $1, gen_random_uuid(), jsonb_build_object('name', n::text), false,
         timestamptz '2020-01-01 00:00:00+00' + n * interval '1 second'
       from generate_series(1, $2::integer) n`,
      [projectId, count],
    );

  test('a table that no spreadsheet could hold keeps what is left over in its last column', async () => {
    const many = await createTestApi(db());
    await db().query(
      `insert into persons (project_id, uuid, properties, is_identified, created_at)
       select $1, gen_random_uuid(), jsonb_object_agg('k' || n || '-' || p, 1), false, now()
       from generate_series(1, 5) p, generate_series(1, 4000) n group by p`,
      [many.project.id],
    );
    const response = await many.get('persons/?format=csv');
    expect(response.status).toBe(200);
    const lines = (await response.text()).trimEnd().split('\r\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(/,further_columns$/);
    expect(lines.join('').match(/""properties\.k/g)?.length).toBeGreaterThan(20_000 - 16_384);
  });
});
