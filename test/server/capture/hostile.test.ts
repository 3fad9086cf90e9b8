import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryDatabase } from '../../support/databases.ts';
import { type ListeningApi, listenApi } from '../../support/listening-api.ts';
import { chinese, event, json, MB, refused, type Sent, stored } from './hostile-bodies.ts';

onEveryDatabase('hostile input', (db) => {
  let api: ListeningApi;
  beforeAll(async () => {
    api = await listenApi(db());
  });
  afterAll(() => api.close());

  const send = ({ body, query = '', headers = {} }: Sent) =>
    fetch(`${api.url}/batch/${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
  const rowsOf = (id: string) =>
    db().query<{ properties: string }>(
      'select properties from events where project_id = $1 and distinct_id = $2',
      [api.project.id, id],
    );
  const count = async () => {
    const rows = await db().query<{ count: number }>(
      'select count(*) as count from events where project_id = $1',
      [api.project.id],
    );
    return rows[0]?.count;
  };
  const isWell = async () => (await send(json(event(api.project.projectKey, 'well', '{}')))).status;

  test.each(refused)('%s gets %i, and nothing is stored', async (_name, status, make) => {
    const before = await count();
    const response = await send(make(api.project.projectKey));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type: expect.any(String), detail: expect.any(String) });
    expect(await count()).toBe(before);
    expect(await isWell()).toBe(200);
  });

  test.each(stored)('%s is stored as it came', async (name, make, properties) => {
    const response = await send(make(api.project.projectKey, name));
    expect(await response.text()).toBe('{"status":1}');
    const [row, ...others] = await rowsOf(name);
    expect(others).toEqual([]);
    expect(JSON.parse(row?.properties ?? '')).toMatchObject(properties);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('numbers are stored with every digit, as large as they may be', async () => {
    const digits = '9'.repeat(131_072);
    const numbers = `[1e1000,-1E+1000,1e-1000,${digits},0.${'1'.repeat(16_383)},1e308,-0.0]`;
    expect((await send(json(event(api.project.projectKey, 'numbers', `{"a":${numbers}}`)))).status).toBe(200);
    const [row] = await rowsOf('numbers');
    const zeros = '0'.repeat(1000);
    for (const text of [
      `1${zeros},`,
      `-1${zeros},`,
      `0.${zeros.slice(1)}1,`,
      `${digits},`,
      `0.${'1'.repeat(16_383)},`,
    ]) {
      expect(row?.properties).toContain(text);
    }
  });

  test('a name and an id of 10 MB are cut to 200 characters', async () => {
    const long = 'n'.repeat(10 * MB);
    const body = `{"api_key":"${api.project.projectKey}","event":"${long}","distinct_id":"${long}"}`;
    expect((await send(json(body))).status).toBe(200);
    expect(await rowsOf('n'.repeat(200))).toHaveLength(1);
  });

  test('a person and a group take keys that no index could hold, and refuse to grow without end', async () => {
    const key = chinese(1000);
    const grow = (n: number) => {
      const set = `{"${key}":${n},"k${n}":"${'v'.repeat(300_000)}"}`;
      return send(
        json(
          event(
            api.project.projectKey,
            'grown',
            `{"$set":${set},"$group_type":"company","$group_key":"grown","$group_set":${set}}`,
          ).replace('"event":"e"', '"event":"$groupidentify"'),
        ),
      );
    };
    for (const n of [1, 2]) expect((await grow(n)).status).toBe(200);
    const rows = await db().query<{ properties: string }>(
      `select p.properties from persons p join person_distinct_ids d on d.person_id = p.id
       where d.project_id = $1 and d.distinct_id = 'grown'
       union all select properties from groups where project_id = $1 and group_key = 'grown'`,
      [api.project.id],
    );
    expect(rows).toHaveLength(2);
    for (const { properties } of rows) {
      expect(JSON.parse(properties)).toMatchObject({ [key]: 1, k1: expect.any(String) });
      expect(JSON.parse(properties)).not.toHaveProperty('k2');
    }
  });
});
