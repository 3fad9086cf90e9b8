import { beforeAll, expect, test } from 'vitest';
import type { Paged } from '../../../src/server/http/paging.ts';
import { orderIds, renderPerson } from '../../../src/server/persons/render-person.ts';
import type { PersonBody } from '../../../src/server/persons/schema.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

onEveryDatabase('persons', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
    const person = (id: string, day: number, set: object) => ({
      event: '$set',
      timestamp: `2020-01-0${day}T00:00:00Z`,
      properties: { distinct_id: id, $set: set },
    });
    await api.send(
      person('ada', 1, { email: 'Ada@Example.com', name: 'Ada' }),
      person('bob', 2, { email: 'bob@example.com' }),
      person('100%_id', 3, { name: 'Percent' }),
      person('a1b2-c3d4-e5f6-a7b8-c9d0', 4, {}),
    );
  });

  const list = (query: string) => api.read<Paged<PersonBody>>(`persons/?${query}`);
  const ids = async (query: string) => (await list(query)).results.map(({ distinct_ids }) => distinct_ids[0]);

  test('come newest first, with exactly the fields of the contract', async () => {
    const { count, next, previous, results } = await list('');
    expect({ count, next, previous }).toEqual({ count: 4, next: null, previous: null });
    expect(results.map(({ created_at }) => created_at.slice(0, 10))).toEqual([
      '2020-01-04',
      '2020-01-03',
      '2020-01-02',
      '2020-01-01',
    ]);
    const ada = results[3];
    expect(ada).toEqual({
      id: expect.any(Number),
      name: 'Ada@Example.com',
      distinct_ids: ['ada'],
      properties: { email: 'Ada@Example.com', name: 'Ada', $creator_event_uuid: expect.any(String) },
      created_at: '2020-01-01T00:00:00.000Z',
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('are found by id, by e-mail and by search', async () => {
    expect(await ids('distinct_id=bob')).toEqual(['bob']);
    expect(await ids('distinct_id=BOB')).toEqual([]);
    expect(await ids('email=bob@example.com')).toEqual(['bob']);
    expect(await ids('email=Bob@example.com')).toEqual([]);
    expect(await ids('search=EXAMPLE')).toEqual(['bob', 'ada']);
    expect(await ids('search=ada')).toEqual(['ada']);
    expect(await ids(`search=${encodeURIComponent('100%_id')}`)).toEqual(['100%_id']);
    expect(await ids('search=%25')).toEqual([]); // a percent sign is itself, not a wildcard
    const [ada] = (await list('distinct_id=ada')).results;
    expect(await ids(`search=${ada?.uuid.toUpperCase()}`)).toEqual(['ada']);
    expect(await ids('email=bob@example.com&distinct_id=ada')).toEqual([]);
  });

  test('come in pages whose links lead through all of them', async () => {
    const seen: (string | undefined)[] = [];
    const headers = { authorization: `Bearer ${api.personalKey}` };
    let url: string | null = `http://localhost/api/projects/${api.project.id}/persons/?limit=3&search=`;
    let page: Paged<PersonBody> | undefined;
    while (url !== null) {
      page = (await (await api.app.request(url, { headers })).json()) as Paged<PersonBody>;
      seen.push(...page.results.map(({ distinct_ids }) => distinct_ids[0]));
      url = page.next;
    }
    expect(seen).toEqual(['a1b2-c3d4-e5f6-a7b8-c9d0', '100%_id', 'bob', 'ada']);
    expect(page?.previous).toBe(
      `http://localhost/api/projects/${api.project.id}/persons/?search=&limit=3&offset=0`,
    );
  });

  test('are retrieved by integer and by uuid, with the same answer', async () => {
    const [bob] = (await list('distinct_id=bob')).results;
    expect(await api.read(`persons/${bob?.id}/`)).toEqual(bob);
    expect(await api.read(`persons/${bob?.uuid}`)).toEqual(bob);
  });

  test.each([
    ['persons/2147483647/', 404, 'not_found', /Person not found/],
    ['persons/99999999999/', 404, 'not_found', /Person not found/],
    ['persons/00000000-0000-4000-8000-000000000000/', 404, 'not_found', /Person not found/],
    ['persons/ada/', 400, 'invalid_input', /does not look like a personID/],
    ['persons/?distinct_id=%00', 400, 'invalid_input', /cannot be stored/],
  ])('%s is %i', async (path, status, code, detail) => {
    const response = await api.get(path);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, detail: expect.stringMatching(detail) });
  });

  test('have no endpoints that are not built, whatever the method', async () => {
    expect((await api.call('POST', 'persons/none/such/', {})).status).toBe(404);
    expect((await api.call('POST', 'persons/5/', {})).status).toBe(405);
  });

  test('of another project are not found', async () => {
    const other = await createTestApi(db());
    const [bob] = (await list('distinct_id=bob')).results;
    expect((await other.get(`persons/${bob?.id}/`)).status).toBe(404);
    expect((await other.read<Paged<PersonBody>>('persons/')).count).toBe(0);
  });
});

const stored = (properties: string, distinctIds: string[]) => ({
  id: 5,
  uuid: 'u',
  createdAt: 't',
  isIdentified: false,
  properties,
  distinctIds,
});

test.each([
  ['{"name":"N","email":"e@x"}', ['id'], 'e@x'],
  ['{"email":"","Email":null,"username":"U"}', ['id'], 'U'],
  ['{"name":12345678901234567890}', ['id'], '12345678901234567890'],
  ['{}', ['a1-b2-c3-d4-e5', 'known'], 'known'],
  ['{}', ['a1-b2-c3-d4-e5'], 'a1-b2-c3-d4-e5'],
  ['{}', [], '5'],
])('a person with %s and the ids %j is called %s', (properties, distinctIds, name) => {
  expect(renderPerson(stored(properties, distinctIds)).name).toBe(name);
});

test('anonymous ids come last, all others in the order they were seen', () => {
  expect(orderIds(['a-b-c-d-e', 'z', 'f-g-h-i-j', 'a'])).toEqual(['z', 'a', 'a-b-c-d-e', 'f-g-h-i-j']);
});
