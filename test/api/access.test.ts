import { beforeAll, expect, test } from 'vitest';
import { ACCESS, PUBLIC_PATHS } from '../../src/api/access.ts';
import { createPersonalKey, loadPersonalKey, savePersonalKey } from '../../src/api/keys.ts';
import { ensureProject } from '../../src/api/projects.ts';
import { grants, type Scope } from '../../src/api/scopes.ts';
import { createUser } from '../../src/api/users.ts';
import { createTestApi, type TestApi } from '../support/api.ts';
import { onEveryDatabase } from '../support/databases.ts';

onEveryDatabase('access', (db) => {
  let api: TestApi;
  let otherId: number;
  /** A project of an organisation that no key of this suite belongs to. */
  let strangersId: number;
  beforeAll(async () => {
    api = await createTestApi(db());
    const [strangers] = await db().query<{ id: string }>(
      `insert into organizations (name) values ('strangers') returning id`,
    );
    const theirs = { name: 'theirs', projectKey: 'phc_theirs', organizationId: strangers?.id ?? '' };
    strangersId = (await ensureProject(db(), theirs)).id;
    otherId = (await ensureProject(db(), { name: 'other', projectKey: 'phc_other' })).id;
  });

  const call = (path: string, authorization?: string, method = 'GET') =>
    api.app.request(path, {
      method,
      ...(authorization === undefined ? {} : { headers: { authorization } }),
    });
  const bearer = async (scopes: Scope[], projectIds?: number[]) =>
    `Bearer ${await createPersonalKey(db(), { label: 't', scopes, ...(projectIds ? { projectIds } : {}) })}`;
  /** Asks an endpoint of the table, with ids that may not exist. */
  const ask = (route: string, authorization?: string, projectId: string | number = api.project.id) => {
    const [method, pattern = ''] = route.split(' ');
    const path = pattern.replace(':project_id', String(projectId)).replace(/:\w+/g, '1');
    return call(path, authorization, method);
  };

  test('every endpoint of the service stands in the table, and the table names no other', () => {
    const routes = api.app.routes
      .filter(({ method, path: at }) => method !== 'ALL' && at.startsWith('/api/'))
      .map((route) => `${route.method} ${route.path}`);
    expect([...new Set(routes)].sort()).toEqual(Object.keys(ACCESS).sort());
  });

  test('every other route begins like a path that is public, and each of these has a route', () => {
    const others = api.app.routes
      .filter(({ method, path: at }) => method !== 'ALL' && !at.startsWith('/api/'))
      .map(({ path: at }) => at);
    const starts = Object.keys(PUBLIC_PATHS);
    expect(others.filter((at) => !starts.some((start) => at.startsWith(start)))).toEqual([]);
    expect(starts.filter((start) => !others.some((at) => at.startsWith(start)))).toEqual([]);
  });

  test.each(Object.entries(ACCESS))('%s checks key, scopes and project', async (route, scopes) => {
    const none = await ask(route);
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    expect(await none.json()).toMatchObject({
      type: 'authentication_error',
      code: 'not_authenticated',
      attr: null,
    });

    const bad = await ask(route, 'Bearer phx_wrong');
    expect(bad.status).toBe(401);
    expect(await bad.json()).toMatchObject({ code: 'authentication_failed' });

    for (const missing of scopes) {
      const others = scopes.filter((scope) => scope !== missing);
      const poor = await ask(route, await bearer(others));
      expect(poor.status).toBe(403);
      expect(await poor.json()).toEqual({
        type: 'authentication_error',
        code: 'permission_denied',
        detail: `API key missing required scope '${missing}'`,
        attr: null,
      });
    }

    if (route.includes(':project_id')) {
      const elsewhere = await ask(route, await bearer(['*'], [otherId]));
      expect(elsewhere.status).toBe(403);
      expect(await elsewhere.json()).toMatchObject({
        detail: `API key does not have access to the requested project: ID ${api.project.id}.`,
      });
      const stranger = await ask(route, await bearer(['*']), strangersId);
      expect(stranger.status).toBe(403);
      expect(await stranger.json()).toMatchObject({ detail: "You don't have access to the project." });
      const gone = await ask(route, await bearer(['*']), 999_999);
      expect(await gone.json()).toMatchObject({ code: 'not_found', detail: 'Project not found.' });
      expect((await ask(route, await bearer(['*']), 'abc')).status).toBe(404);
    }

    // Let in: what is said of an example's ids and missing input is the endpoint's own.
    const right = await ask(route, `Bearer   ${(await bearer([...scopes], [api.project.id])).slice(7)}`);
    expect([401, 403]).not.toContain(right.status);
    expect(right.status).toBeLessThan(500);
  });

  test('a key in the body or the query string is a key too, and named in its refusal', async () => {
    const key = (await bearer(['*'])).slice(7);
    expect((await call(`/api/projects/?personal_api_key=${key}`)).status).toBe(200);
    const wrong = await call('/api/projects/?personal_api_key=phx_no');
    expect(await wrong.json()).toMatchObject({
      detail: 'Personal API key found in request query string is invalid.',
    });
  });

  test('@current is the first project that the key may see', async () => {
    const response = await call('/api/projects/@current/', await bearer([], [otherId]));
    expect(await response.json()).toMatchObject({ id: otherId, name: 'other', api_token: 'phc_other' });
  });

  test('a key speaks for its user: it opens the projects of their organisation', async () => {
    const ada = await createUser(db(), { email: 'ada@example.com', firstName: 'Ada' });
    const key = await createPersonalKey(db(), { label: 't', scopes: [], userId: ada.id });
    expect((await call(`/api/projects/${api.project.id}/`, `Bearer ${key}`)).status).toBe(200);
    await db().query('delete from organization_members where user_id = $1', [ada.id]);
    expect((await call(`/api/projects/${api.project.id}/`, `Bearer ${key}`)).status).toBe(403);
    expect(await (await call('/api/projects/', `Bearer ${key}`)).json()).toMatchObject({ count: 0 });
  });

  test('the list of projects holds those of the key, in pages', async () => {
    const all = await (await call('/api/projects/?limit=1', await bearer([]))).json();
    expect(all).toMatchObject({
      count: 2,
      next: 'http://localhost/api/projects/?limit=1&offset=1',
      previous: null,
      results: [{ id: api.project.id }],
    });
    const restricted = await (await call('/api/projects', await bearer([], [otherId]))).json();
    expect(restricted).toMatchObject({ count: 1, results: [{ id: otherId }] });
  });

  test('an unknown path is 404 and a known one with another method 405, in the envelope', async () => {
    const unknown = await call('/api/nothing/');
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toEqual({
      type: 'invalid_request',
      code: 'not_found',
      detail: 'Not found.',
      attr: null,
    });
    const method = await api.app.request(`/api/projects/${api.project.id}/persons/`, { method: 'PUT' });
    expect(method.status).toBe(405);
    expect(await method.json()).toMatchObject({
      code: 'method_not_allowed',
      detail: 'Method "PUT" not allowed.',
    });
  });

  test('only the hash of a personal key is stored, and a revoked one is no key any more', async () => {
    const token = await createPersonalKey(db(), { label: 'secret', scopes: ['*'] });
    expect(token).toMatch(/^phx_[0-9A-Za-z]{40,43}$/);
    expect(JSON.stringify(await db().query('select * from personal_api_keys'))).not.toContain(token.slice(4));
    expect(await loadPersonalKey(db(), token)).toMatchObject({
      label: 'secret',
      scopes: ['*'],
      projectIds: null,
    });
    await db().query(`update personal_api_keys set revoked_at = now() where label = 'secret'`);
    expect(await loadPersonalKey(db(), token)).toBeUndefined();
  });

  test('keys and projects that exist already are left as they are', async () => {
    const first = await ensureProject(db(), { name: 'one', projectKey: 'phc_same' });
    expect(await ensureProject(db(), { name: 'two', projectKey: 'phc_same' })).toEqual(first);
    await savePersonalKey(db(), 'phx_same', { label: 'a', scopes: ['person:read'] });
    await savePersonalKey(db(), 'phx_same', { label: 'b', scopes: ['*'] });
    expect(await loadPersonalKey(db(), 'phx_same')).toMatchObject({ label: 'a', scopes: ['person:read'] });
  });
});

test.each([
  [['person:read'], true],
  [['person:write'], true],
  [['*'], true],
  [['dashboard:read', 'person:readx'], false],
  [[], false],
])('a key with %j may read persons: %s', (scopes, expected) => {
  expect(grants(scopes, 'person:read')).toBe(expected);
  expect(grants(['person:read'], 'person:write')).toBe(false);
});
