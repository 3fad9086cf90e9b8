import { beforeAll, expect, test } from 'vitest';
import { createUser } from '../../../../src/server/auth/users.ts';
import { createTestApi, type TestApi } from '../../../support/api.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { createPersonalKey } from '../../../support/keys.ts';
import { did, NOW } from '../../insights/lab.ts';

interface Body {
  readonly id: number;
  readonly [key: string]: unknown;
}

interface Page {
  readonly count: number;
  readonly next: string | null;
  readonly results: readonly Body[];
}

const views = { insight: 'TRENDS', events: [{ id: 'view', type: 'events' }], date_from: '2024-01-09' };

onEveryDatabase('the insights of a project', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(did('ann', 'view', '01-09 10:00'), did('bob', 'view', '01-10 10:00'));
  });

  async function ask(method: string, path: string, body?: unknown, key = api.personalKey): Promise<Response> {
    return api.app.request(`/api/projects/${api.project.id}/insights/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }
  async function succeed<T = Body>(status: number, response: Promise<Response>): Promise<T> {
    const answer = await response;
    const text = await answer.text();
    expect({ status: answer.status, text }).toMatchObject({ status });
    return JSON.parse(text) as T;
  }
  const make = (body: unknown) => succeed(201, ask('POST', '', body));

  test('are made, and computed when they are looked at', async () => {
    const made = await make({ name: 'Views', filters: views, tags: [' A ', 'a'], saved: true });
    expect(made).toMatchObject({
      name: 'Views',
      derived_name: null,
      description: null,
      filters: views,
      query: null,
      tags: ['a'],
      saved: true,
      favorited: false,
      deleted: false,
      dashboards: [],
      dashboard_tiles: [],
      result: null,
      last_refresh: null,
      is_cached: false,
      created_by: { email: 'owner@backhaul.invalid' },
      timezone: 'UTC',
      effective_restriction_level: 21,
      effective_privilege_level: 37,
    });
    const shown = await succeed(200, ask('GET', `${made.id}/`));
    expect(shown).toMatchObject({
      result: [{ label: 'view', data: [1, 1], days: ['2024-01-09', '2024-01-10'] }],
      last_refresh: NOW,
      is_cached: false,
      next_allowed_client_refresh: '2024-01-10T12:00:15.000Z',
      filters_hash: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    await api.send(did('joe', 'view', '01-10 11:00'));
    expect(await succeed(200, ask('GET', `${made.id}/`))).toMatchObject({
      is_cached: true,
      result: [{ data: [1, 1] }],
    });
    expect(await succeed(200, ask('GET', `${made.id}/?refresh=true`))).toMatchObject({
      is_cached: false,
      result: [{ data: [1, 2] }],
    });
  });

  test('may ask for what cannot be had, and then say why', async () => {
    const { id } = await make({ filters: { ...views, data_warehouse: [{ id: 'x' }] } });
    expect(await succeed(200, ask('GET', `${id}/`))).toMatchObject({
      result: null,
      last_refresh: null,
      error: { type: 'unsupported', message: expect.stringContaining('data warehouse') },
    });
  });

  test('say that all events are counted, whatever share of them is asked for', async () => {
    const { id } = await make({ filters: { ...views, sampling_factor: 0.1 } });
    const sampling = { asked: 0.1, used: 1, error: 0 };
    const sampled = await succeed(200, ask('GET', `${id}/`));
    expect(sampled).toMatchObject({ sampling });
    const { id: other } = await make({ filters: views });
    const { result, ...whole } = await succeed(200, ask('GET', `${other}/`));
    expect(whole).not.toHaveProperty('sampling');
    expect(sampled['result']).toEqual(result);
  });

  test.each([0, 1.01, -0.1, 'half'])('refuse to count a share of %s', async (factor) => {
    const { id } = await make({ filters: { ...views, sampling_factor: factor } });
    expect(await succeed(200, ask('GET', `${id}/`))).toMatchObject({
      result: null,
      error: { type: 'invalid', message: expect.stringMatching(/^sampling_factor: /) },
    });
  });

  test('keep the digits of large numbers', async () => {
    const made = await ask(
      'POST',
      '',
      '{"filters":{"properties":[{"key":"a","value":1234567890123456789}]}}',
    );
    expect(await made.text()).toContain('"value":1234567890123456789');
  });

  test('are changed field by field', async () => {
    const { id } = await make({ name: 'Before', filters: views, tags: ['x'], description: 'kept' });
    const changed = await succeed(
      200,
      ask('PATCH', `${id}/`, { name: 'After', query: null, favorited: true }),
    );
    expect(changed).toMatchObject({
      name: 'After',
      description: 'kept',
      tags: ['x'],
      favorited: true,
      filters: views,
    });
    expect(await succeed(200, ask('PATCH', `${id}/`, { name: null, tags: [], filters: {} }))).toMatchObject({
      name: null,
      tags: [],
      filters: {},
      favorited: true,
    });
  });

  test('are changed by those only who may edit every dashboard that shows them', async () => {
    const member = await createUser(db(), { email: 'viewer@example.com', firstName: 'V', level: 'member' });
    const key = await createPersonalKey(db(), { label: 'v', scopes: ['*'], userId: member.id });
    const { id } = await make({ name: 'Shown', filters: views });
    const put = async (restriction: number) => {
      const made = await api.call('POST', 'dashboards/', { restriction_level: restriction });
      const dashboard = (await made.json()) as Body;
      await api.call('PATCH', `dashboards/${dashboard.id}/`, { tiles: [{ insight: { id } }] });
      return dashboard.id;
    };
    await put(21);
    await succeed(200, ask('PATCH', `${id}/`, { name: 'by a member' }, key));
    const restricted = await put(37);

    const refused = await ask('PATCH', `${id}/`, { deleted: true }, key);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      code: 'permission_denied',
      detail: "You don't have edit permissions for this insight.",
    });
    expect(await succeed(200, ask('GET', `${id}/`, undefined, key))).toMatchObject({
      name: 'by a member',
      effective_restriction_level: 37,
      effective_privilege_level: 21,
    });
    await succeed(200, ask('PATCH', `${id}/`, { name: 'by the owner' }));

    await api.call('POST', `dashboards/${restricted}/collaborators/`, { level: 37, user_uuid: member.uuid });
    await succeed(200, ask('PATCH', `${id}/`, { name: 'by a collaborator' }, key));
    await api.call('PATCH', `dashboards/${restricted}/`, { deleted: true });
    expect(await succeed(200, ask('GET', `${id}/`, undefined, key))).toMatchObject({
      effective_restriction_level: 37,
      effective_privilege_level: 37,
    });
  });

  test('are deleted, gone, and brought back', async () => {
    const { id } = await make({ name: 'to be deleted', filters: views });
    expect(await succeed(200, ask('PATCH', `${id}/`, { deleted: true }))).toMatchObject({ deleted: true });
    expect((await ask('GET', `${id}/`)).status).toBe(404);
    expect((await ask('PATCH', `${id}/`, { name: 'still there?' })).status).toBe(404);
    expect((await succeed<Page>(200, ask('GET', '?search=to be deleted'))).count).toBe(0);
    await succeed(200, ask('PATCH', `${id}/`, { deleted: false }));
    expect((await succeed<Page>(200, ask('GET', '?search=TO BE DELETED'))).count).toBe(1);
  });

  test('are listed newest first, and found', async () => {
    const first = await make({ name: 'List one', filters: {}, saved: true });
    const second = await make({ description: 'list two', filters: {} });
    const found = await succeed<Page>(200, ask('GET', '?search=list'));
    expect(found.results.map(({ id }) => id)).toEqual([second.id, first.id]);
    const page = await succeed<Page>(200, ask('GET', '?search=list&limit=1'));
    expect(page).toMatchObject({
      count: 2,
      results: [{ id: second.id }],
      next: expect.stringContaining('offset=1'),
    });
    expect((await succeed<Page>(200, ask('GET', '?search=list&saved=true'))).results).toMatchObject([
      { id: first.id },
    ]);
    const named = await succeed<Page>(200, ask('GET', `?short_id=${String(first['short_id'])}`));
    expect(named.results).toMatchObject([{ id: first.id, result: null }]);
    expect((await succeed<Page>(200, ask('GET', '?search=100%25'))).count).toBe(0);
  });

  test('know the dashboards that show them', async () => {
    const { id } = await make({ name: 'On a dashboard', filters: views });
    const dashboards = `/api/projects/${api.project.id}/dashboards/`;
    const headers = { authorization: `Bearer ${api.personalKey}` };
    const { id: dashboardId } = (await (
      await api.post(dashboards, { name: 'Board' }, headers)
    ).json()) as Body;
    const placed = await api.app.request(`${dashboards}${dashboardId}/`, {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ tiles: [{ insight: { id } }] }),
    });
    expect(placed.status).toBe(200);
    expect(await succeed(200, ask('GET', `${id}/`))).toMatchObject({
      dashboards: [dashboardId],
      dashboard_tiles: [{ dashboard_id: dashboardId, deleted: false }],
    });
  });

  test.each([
    ['a name that is too long', { name: 'x'.repeat(401) }, 'name'],
    ['filters that are a list', { filters: [] }, 'filters'],
    ['filters beyond all measure', { filters: { a: 'x'.repeat(100_000) } }, 'filters'],
    ['a query that is text', { query: 'select 1' }, 'query'],
    ['tags that are no list', { tags: 'a' }, 'tags'],
  ])('refuse %s', async (_, body, attr) => {
    const response = await ask('POST', '', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'validation_error', attr });
  });

  test('are of their project alone, and found by whole numbers only', async () => {
    const { id } = await make({ filters: {} });
    const other = await createTestApi(db());
    expect((await other.get(`insights/${id}/`)).status).toBe(404);
    for (const path of ['0/', 'x/', `${2 ** 31}/`]) expect((await ask('GET', path)).status).toBe(404);
    expect((await ask('PATCH', '0/', {})).status).toBe(404);
  });

  test('need their scopes', async () => {
    const { id } = await make({ filters: {} });
    const reader = await createPersonalKey(db(), { label: 'reader', scopes: ['insight:read'] });
    const stranger = await createPersonalKey(db(), { label: 'stranger', scopes: ['dashboard:write'] });
    expect((await ask('GET', `${id}/`, undefined, reader)).status).toBe(200);
    expect((await ask('POST', '', {}, reader)).status).toBe(403);
    expect((await ask('PATCH', `${id}/`, {}, reader)).status).toBe(403);
    expect((await ask('GET', '', undefined, stranger)).status).toBe(403);
  });
});
