import { beforeAll, expect, test } from 'vitest';
import { ACCESS, grants } from '../../src/api/access.ts';
import { createPersonalKey, ensureProject, loadPersonalKey, savePersonalKey } from '../../src/api/keys.ts';
import { createTestApi, type TestApi } from '../support/api.ts';
import { onEveryDatabase } from '../support/databases.ts';

onEveryDatabase('access', (db) => {
  let api: TestApi;
  let otherId: number;
  beforeAll(async () => {
    api = await createTestApi(db());
    otherId = (await ensureProject(db(), { name: 'other', projectKey: 'phc_other' })).id;
  });

  const call = (path: string, authorization?: string) =>
    api.app.request(path, authorization === undefined ? {} : { headers: { authorization } });
  const bearer = async (scopes: string[], projectIds?: number[]) =>
    `Bearer ${await createPersonalKey(db(), { label: 't', scopes, ...(projectIds ? { projectIds } : {}) })}`;
  const path = (route: string) =>
    (route.split(' ')[1] ?? '').replace(':project_id', String(api.project.id)).replace(':id', '1');

  test('every endpoint of the service stands in the table, and the table names no other', () => {
    const routes = api.app.routes
      .filter(({ method, path: at }) => method !== 'ALL' && at.startsWith('/api/'))
      .map((route) => `${route.method} ${route.path}`);
    expect([...new Set(routes)].sort()).toEqual(Object.keys(ACCESS).sort());
  });

  test.each(Object.entries(ACCESS))('%s checks key, scopes and project', async (route, scopes) => {
    const none = await call(path(route));
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    expect(await none.json()).toMatchObject({
      type: 'authentication_error',
      code: 'not_authenticated',
      attr: null,
    });

    const bad = await call(path(route), 'Bearer phx_wrong');
    expect(bad.status).toBe(401);
    expect(await bad.json()).toMatchObject({ code: 'authentication_failed' });

    if (scopes.length > 0) {
      const poor = await call(path(route), await bearer(['dashboard:read']));
      expect(poor.status).toBe(403);
      expect(await poor.json()).toMatchObject({
        code: 'permission_denied',
        detail: `API key missing required scope '${scopes[0]}'`,
      });
    }

    if (route.includes(':project_id')) {
      const elsewhere = await call(path(route), await bearer(['*'], [otherId]));
      expect(elsewhere.status).toBe(403);
      const gone = path(route).replace(String(api.project.id), '999999');
      expect(await (await call(gone, await bearer(['*']))).json()).toMatchObject({
        detail: 'Project not found.',
      });
      const noNumber = await call(path(route).replace(String(api.project.id), 'abc'), await bearer(['*']));
      expect(noNumber.status).toBe(404);
    }

    const right = await call(
      path(route),
      `Bearer   ${(await bearer([...scopes], [api.project.id])).slice(7)}`,
    );
    expect([200, 404]).toContain(right.status); // 404: no person has the id of the example
  });

  test('@current is the first project that the key may see', async () => {
    const response = await call('/api/projects/@current/', await bearer([], [otherId]));
    expect(await response.json()).toMatchObject({ id: otherId, name: 'other', api_token: 'phc_other' });
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
    const method = await api.app.request(`/api/projects/${api.project.id}/persons/`, { method: 'POST' });
    expect(method.status).toBe(405);
    expect(await method.json()).toMatchObject({
      code: 'method_not_allowed',
      detail: 'Method "POST" not allowed.',
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
