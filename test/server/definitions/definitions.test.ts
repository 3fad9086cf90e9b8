import type { Hono } from 'hono';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildApi } from '../../../src/server/app.ts';
import { createUser } from '../../../src/server/auth/users.ts';
import { eventDefinitions } from '../../../src/server/database/migrations/0008-event-definitions.ts';
import type { DefinitionBody } from '../../../src/server/definitions/schema.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase, silent } from '../../support/databases.ts';

interface DefinitionPage {
  readonly count: number;
  readonly next: string | null;
  readonly results: DefinitionBody[];
}

onEveryDatabase('event definitions', (db) => {
  let api: TestApi;
  let clockMs = Date.now();
  beforeAll(async () => {
    api = await createTestApi(db(), () => clockMs);
    await api.send(
      { event: '$pageview', distinct_id: 'a' },
      { event: 'Item Opened', distinct_id: 'a' },
      { event: 'Item Opened', distinct_id: 'b' },
      { event: 'Order 100%_done', distinct_id: 'b' },
      { event: '$$plugin_metrics', distinct_id: 'b' },
    );
  });

  const list = (query = '') => api.read<DefinitionPage>(`event_definitions/${query}`);
  const names = async (query: string) => (await list(query)).results.map(({ name }) => name);
  const find = async (name: string, of = api) => {
    const page = await of.read<DefinitionPage>(`event_definitions/?search=${encodeURIComponent(name)}`);
    const found = page.results.find((each) => each.name === name);
    if (found === undefined) throw new Error(`${name} is not defined`);
    return found;
  };
  const call = (method: string, id: string, body?: unknown) =>
    api.app.request(`/api/projects/${api.project.id}/event_definitions/${id}/`, {
      method,
      headers: { authorization: `Bearer ${api.personalKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  describe('are kept by ingestion', () => {
    test('one a name, none for what the service says of itself', async () => {
      const page = await list();
      expect(page.count).toBe(3);
      expect(page.results.map(({ name }) => name).sort()).toEqual([
        '$pageview',
        'Item Opened',
        'Order 100%_done',
      ]);
      expect(page.results[0]).toMatchObject({
        description: '',
        tags: [],
        owner: null,
        verified: false,
        is_action: false,
        last_updated_at: null,
      });
    });

    test('and tell at most once a day that the name was seen', async () => {
      const before = await find('$pageview');
      await api.send({ event: '$pageview', distinct_id: 'a' });
      expect((await find('$pageview')).last_seen_at).toBe(before.last_seen_at);
      await db().query(
        `update event_definitions set last_seen_at = last_seen_at - interval '25 hours' where id = $1`,
        [before.id],
      );
      clockMs += 3_600_000;
      await api.send({ event: '$pageview', distinct_id: 'a' });
      const after = await find('$pageview');
      expect(after).toMatchObject({ id: before.id, created_at: before.created_at });
      expect(Date.parse(after.last_seen_at)).toBeGreaterThanOrEqual(Date.parse(before.last_seen_at));
    });

    test('not where the request was refused', async () => {
      const refused = await api.post('/batch/', {
        api_key: api.project.projectKey,
        batch: [{ event: 'half', distinct_id: 'a' }, { event: 'half' }],
      });
      expect(refused.status).toBe(400);
      expect(await names('?search=half')).toEqual([]);
    });

    test('for each project alone, whatever batches come at once', async () => {
      const other = await createTestApi(db());
      await Promise.all(
        Array.from({ length: 8 }, (_, sender) =>
          other.send(
            ...Array.from({ length: 20 }, (_, n) => ({
              event: `e${(n + sender) % 20}`,
              distinct_id: `s${sender}`,
            })),
          ),
        ),
      );
      const page = await other.read<DefinitionPage>('event_definitions/?limit=7&ordering=name');
      expect(page.count).toBe(20);
      expect(page.results.map(({ name }) => name)).toEqual(['e0', 'e1', 'e10', 'e11', 'e12', 'e13', 'e14']);
      expect(page.next).toContain('limit=7&offset=7');
      expect((await list('?search=e1')).results.map(({ name }) => name)).not.toContain('e1');
    });
  });

  test('are made of the events that were there before there were definitions', async () => {
    await db().query('delete from event_definitions');
    const [, takeOver = ''] = eventDefinitions.statements;
    await db().query(takeOver);
    expect(await names('?ordering=name')).toEqual(['$pageview', 'Item Opened', 'Order 100%_done']);
  });

  describe('are listed', () => {
    test.each([
      ['?search=item%20OPEN', ['Item Opened']],
      ['?search=100%25_', ['Order 100%_done']],
      ['?search=nothing', []],
      ['?event_type=event_posthog', ['$pageview']],
      ['?event_type=event_custom&ordering=-name', ['Order 100%_done', 'Item Opened']],
      ['?ordering=name', ['$pageview', 'Item Opened', 'Order 100%_done']],
      ['?ordering=name&limit=1&offset=1', ['Item Opened']],
      ["?search=';drop table events--&ordering=name;x", []],
    ])('%s', async (query, expected) => {
      expect(await names(query)).toEqual(expected);
    });
  });

  test('are listed a thousand at a time at most', async () => {
    const many = await createTestApi(db());
    await db().query(
      `insert into event_definitions (project_id, name) select $1, 'event ' || n from generate_series(1, 1001) n`,
      [many.project.id],
    );
    const page = await many.read<DefinitionPage>('event_definitions/?limit=5000');
    expect(page).toMatchObject({ count: 1001, next: expect.stringContaining('limit=1000&offset=1000') });
    expect(page.results).toHaveLength(1000);
  });

  describe('can be changed', () => {
    test('description, tags, owner and verification; the name stays, and the log tells who', async () => {
      const { id } = await find('Item Opened');
      const ada = await createUser(db(), { email: `ada-${id}@example.com`, firstName: 'Ada' });
      const response = await call('PATCH', id, {
        name: 'other',
        description: 'An item was opened.',
        tags: [' Shop ', 'shop', 'core'],
        owner: ada.id,
        verified: true,
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        name: 'Item Opened',
        description: 'An item was opened.',
        tags: ['shop', 'core'],
        owner: { email: ada.email },
        verified: true,
        verified_by: { first_name: 'Owner' },
        updated_by: { first_name: 'Owner' },
      });
      const cleared = await (await call('PATCH', id, { verified: false, owner: null })).json();
      expect(cleared).toMatchObject({ verified: false, verified_at: null, verified_by: null, owner: null });
      const logged = await db().query<{ activity: string }>(
        `select activity from activity_log where scope = 'EventDefinition' and item_id = $1`,
        [id],
      );
      expect(logged).toEqual([{ activity: 'changed' }, { activity: 'changed' }]);
    });

    test.each([
      [{ owner: 999_999 }, 'does_not_exist', 'owner'],
      [{ tags: 'x' }, 'invalid_input', 'tags'],
      [{ verified: 'perhaps' }, 'invalid_input', 'verified'],
      [{ description: 'x'.repeat(10_001) }, 'max_length', 'description'],
    ])('not to %o', async (body, code, attr) => {
      const response = await call('PATCH', (await find('$pageview')).id, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ type: 'validation_error', code, attr });
    });
  });

  test('are gone after DELETE, until the next event of the name', async () => {
    const { id } = await find('Order 100%_done');
    const response = await call('DELETE', id);
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect((await call('DELETE', id)).status).toBe(404);
    expect(await names('?search=Order')).toEqual([]);
    await api.send({ event: 'Order 100%_done', distinct_id: 'b' });
    expect((await find('Order 100%_done')).id).not.toBe(id);
  });

  test('come back with the next event in every process, whoever deleted them', async () => {
    const elsewhere = buildApi({ db: db(), log: silent });
    const send = async (app: Hono) => {
      const body = {
        api_key: api.project.projectKey,
        batch: [{ event: 'Seen in both', distinct_id: 'a', properties: { n: Math.random() } }],
      };
      const init = { method: 'POST', body: JSON.stringify(body) };
      expect((await app.request('/batch/', init)).status).toBe(200);
    };
    await send(api.app);
    await send(elsewhere);
    for (const app of [elsewhere, api.app]) {
      expect((await call('DELETE', (await find('Seen in both')).id)).status).toBe(204);
      await send(app);
      expect(await names('?search=Seen')).toEqual(['Seen in both']);
    }
  });

  test.each(['GET', 'PATCH', 'DELETE'])('%s of one that is not there is 404', async (method) => {
    const other = await createTestApi(db());
    await other.send({ event: 'theirs', distinct_id: 'x' });
    const theirs = await find('theirs', other);
    for (const id of ['1', 'x', '00000000-0000-4000-8000-000000000000', theirs.id]) {
      expect((await call(method, id, method === 'PATCH' ? {} : undefined)).status).toBe(404);
    }
  });
});
