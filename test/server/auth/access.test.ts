import type { Context } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import { declareRoutes } from '../../../src/server/app.ts';
import { createProjectKey, ensureProject } from '../../../src/server/auth/projects.ts';
import type { Scope } from '../../../src/server/auth/scopes.ts';
import { createUser } from '../../../src/server/auth/users.ts';
import { respondWithError } from '../../../src/server/http/errors.ts';
import { addPublicRoute } from '../../../src/server/routing/route.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase, silent } from '../../support/databases.ts';
import { createPersonalKey } from '../../support/keys.ts';
import { EXPECTED_ACCESS, EXPECTED_PROJECT_KEY, EXPECTED_PUBLIC } from './expected-access.ts';

onEveryDatabase('access', (db) => {
  let api: TestApi;
  let otherId: number;
  /** A project of an organisation that no key of this suite belongs to. */
  let strangersId: number;
  let revoked: string;
  const made = new Map<string, string>();
  beforeAll(async () => {
    api = await createTestApi(db());
    const [strangers] = await db().query<{ id: string }>(
      `insert into organizations (name) values ('strangers') returning id`,
    );
    const organizationId = strangers?.id ?? '';
    const theirs = { name: 'theirs', projectKey: createProjectKey(), organizationId };
    strangersId = (await ensureProject(db(), theirs)).id;
    otherId = (await ensureProject(db(), { name: 'other', projectKey: createProjectKey() })).id;
    revoked = await createPersonalKey(db(), { label: 'revoked', scopes: ['*'] });
    await db().query(`update personal_api_keys set revoked_at = now() where label = 'revoked'`);
  });

  /** A key with these scopes, made when it is first asked for. */
  async function keyWith(scopes: readonly Scope[], projectIds?: readonly number[]): Promise<string> {
    const name = JSON.stringify([scopes, projectIds]);
    const key = made.get(name) ?? (await createPersonalKey(db(), { label: name, scopes, projectIds }));
    made.set(name, key);
    return key;
  }

  /** Asks an endpoint of the table, with ids that do not exist. */
  function ask(
    route: string,
    given: { authorization?: string; query?: string; body?: unknown; projectId?: string | number } = {},
  ): Promise<Response> {
    const [method = '', pattern = ''] = route.split(' ');
    const projectId = String(given.projectId ?? api.project.id);
    const path = pattern.replace(':project_id', projectId).replace(/:\w+/g, '2147483647');
    const url = given.query === undefined ? path : `${path}?personal_api_key=${given.query}`;
    return Promise.resolve(
      api.app.request(url, {
        method,
        headers: {
          ...(given.authorization === undefined ? {} : { authorization: given.authorization }),
          ...(given.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
      }),
    );
  }
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  async function expectRefused(response: Response, status: number, code: string, detail: string) {
    expect([response.status, await response.json()]).toEqual([
      status,
      { type: status === 404 ? 'invalid_request' : 'authentication_error', code, detail, attr: null },
    ]);
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(response.headers.get('cache-control')).toBe('no-store');
  }
  const expectUnauthenticated = (response: Response) =>
    expectRefused(response, 401, 'not_authenticated', 'Authentication credentials were not provided.');
  const expectInvalid = (response: Response, place = 'Authorization header') =>
    expectRefused(
      response,
      401,
      'authentication_failed',
      `Personal API key found in request ${place} is invalid.`,
    );
  /** What is said of ids that do not exist and of missing input is the endpoint's own. */
  async function expectLetIn(response: Response) {
    expect([401, 403, 429]).not.toContain(response.status);
    expect(response.status).toBeLessThan(500);
    expect(await response.text()).not.toContain('"Project not found."');
  }

  test('every endpoint below /api/ declares its scopes, and none differs from what is expected', () => {
    const served = api.app.routes.filter(({ path }) => /^\/(?:api\b|\*)/.test(path));
    const routes = served.map((route) => `${route.method} ${route.path}`);
    expect([...new Set(routes)].sort()).toEqual(
      ['ALL /*', 'ALL /api/*', ...Object.keys(EXPECTED_ACCESS), ...EXPECTED_PROJECT_KEY].sort(),
    );
    const { access } = declareRoutes({ db: db(), log: silent });
    const declared = [...access].flatMap(([route, entry]) =>
      'public' in entry || 'projectKey' in entry || 'role' in entry ? [] : [[route, entry.scopes ?? []]],
    );
    expect(Object.fromEntries(declared)).toEqual(EXPECTED_ACCESS);
    const byProjectKey = [...access].flatMap(([route, entry]) => ('projectKey' in entry ? [route] : []));
    expect(byProjectKey.sort()).toEqual([...EXPECTED_PROJECT_KEY].sort());
  });

  test('every other route declares why it is public, and none of these is below /api/', () => {
    const { access } = declareRoutes({ db: db(), log: silent });
    const served = api.app.routes
      .filter(({ method, path }) => method !== 'ALL' && !path.startsWith('/api/'))
      .map(({ method, path }) => `${method} ${path}`);
    const declared = [...access].flatMap(([route, entry]) =>
      'public' in entry ? [[route, entry.public]] : [],
    );
    expect(Object.fromEntries(declared)).toEqual(EXPECTED_PUBLIC);
    expect([...new Set(served)].sort()).toEqual(Object.keys(EXPECTED_PUBLIC).sort());
    expect(Object.keys(EXPECTED_PUBLIC).filter((route) => route.includes(' /api/'))).toEqual([]);
  });

  test('a route below /api/ that is not declared, or is declared as public, answers nobody', async () => {
    const routes = declareRoutes({ db: db(), log: silent });
    const open = (c: Context) => c.text('open');
    routes.app.get('/api/undeclared/', open);
    routes.app.all('/api/every_method/', open);
    addPublicRoute(routes, { methods: ['GET'], path: '/api/public/', public: 'a mistake' }, open);
    routes.app.onError((error, c) => respondWithError(error, c, silent));
    const headers = bearer(await keyWith(['*']));
    for (const [path, status] of [
      ['/api/undeclared/', 403],
      ['/api/public/', 403],
      ['/api/every_method/', 404],
    ] as const) {
      const response = await routes.app.request(path, { headers });
      expect([path, response.status]).toEqual([path, status]);
      expect(await response.text()).not.toContain('open');
    }
  });

  test.each(EXPECTED_PROJECT_KEY.filter((route) => route.startsWith('GET ')))(
    '%s takes the project key, and tells browsers of any site',
    async (route) => {
      const path = route.replace('GET ', '');
      const headers = { origin: 'https://shop.example' };
      for (const [token, status] of [
        [api.project.projectKey, 200],
        ['phc_wrong', 401],
        ['', 401],
        ['%00', 401],
      ] as const) {
        const response = await api.app.request(`${path}?token=${token}`, { headers });
        expect([token, response.status]).toEqual([token, status]);
        expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
      }
      expect((await api.app.request(path, { headers: bearer(api.personalKey) })).status).toBe(401);
      expect((await api.app.request(path, { method: 'OPTIONS', headers })).status).toBe(200);
    },
  );

  const rows = Object.entries(EXPECTED_ACCESS);

  test.each(rows)('%s takes a valid personal key', async (route) => {
    await expectUnauthenticated(await ask(route));
    await expectUnauthenticated(await ask(route, { authorization: `Basic ${api.personalKey}` }));
    await expectUnauthenticated(await ask(route, { authorization: `Token ${api.personalKey}` }));
    await expectUnauthenticated(await ask(route, { authorization: 'Bearer ' }));
    await expectInvalid(await ask(route, bearer('phx_wrong')));
    await expectInvalid(await ask(route, bearer(`${api.personalKey}x`)));
    await expectInvalid(await ask(route, bearer(revoked)));
    await expectInvalid(await ask(route, bearer(api.project.projectKey)));
    await expectInvalid(await ask(route, { query: 'phx_wrong' }), 'query string');
    if (!route.startsWith('GET ')) {
      await expectInvalid(await ask(route, { body: { personal_api_key: 'phx_wrong' } }), 'body');
    }
  });

  test.each(rows)('%s takes every scope of its row', async (route, scopes) => {
    for (const missing of scopes) {
      const others = scopes.filter((scope) => scope !== missing);
      const poor = await ask(route, bearer(await keyWith(others)));
      await expectRefused(poor, 403, 'permission_denied', `API key missing required scope '${missing}'`);
    }
    // A restriction is about projects: it may close what stands above them.
    const restriction = route.includes(':project_id') ? [api.project.id] : undefined;
    await expectLetIn(await ask(route, bearer(`  ${await keyWith(scopes, restriction)} `)));
    const writing = scopes.map((scope) => scope.replace(/:read$/, ':write') as Scope);
    await expectLetIn(await ask(route, { query: await keyWith(writing) }));
    const everything = await keyWith(['*']);
    if (route.startsWith('GET ')) await expectLetIn(await ask(route, bearer(everything)));
    else await expectLetIn(await ask(route, { body: { personal_api_key: everything } }));
  });

  test.each(rows.filter(([route]) => route.includes(':project_id')))(
    '%s opens projects of the key and its user only',
    async (route) => {
      const everything = bearer(await keyWith(['*']));
      await expectRefused(
        await ask(route, bearer(await keyWith(['*'], [otherId]))),
        403,
        'permission_denied',
        `API key does not have access to the requested project: ID ${api.project.id}.`,
      );
      await expectRefused(
        await ask(route, { ...everything, projectId: strangersId }),
        403,
        'permission_denied',
        "You don't have access to the project.",
      );
      for (const projectId of ['999999', '99999999999']) {
        const gone = await ask(route, { ...everything, projectId });
        await expectRefused(gone, 404, 'not_found', 'Project not found.');
      }
      const unreadable = await ask(route, { ...everything, projectId: 'abc' });
      await expectRefused(unreadable, 404, 'not_found', 'Not found.');
    },
  );

  test('the first key that is found counts: header, then body, then query string', async () => {
    const key = await keyWith(['*']);
    const route = 'POST /api/projects/';
    const body = { personal_api_key: 'phx_wrong' };
    await expectLetIn(await ask(route, { ...bearer(key), body, query: 'phx_wrong' }));
    await expectInvalid(await ask(route, { body, query: key }), 'body');
    await expectInvalid(await ask(route, { ...bearer('phx_wrong'), query: key }));
  });

  test('what is wrong with a body is told only to those who have a key', async () => {
    const send = (headers: Record<string, string>, body: string) =>
      api.app.request('/api/projects/', { method: 'POST', headers, body });
    const key = bearer(await keyWith(['*']));
    for (const [type, body, status] of [
      ['application/json', '{"name":', 400],
      ['text/xml', '<name/>', 415],
      ['application/json', `"${'x'.repeat(5 * 1024 * 1024)}"`, 413],
    ] as const) {
      await expectUnauthenticated(await send({ 'content-type': type }, body));
      expect((await send({ 'content-type': type, ...key }, body)).status).toBe(status);
    }
  });

  test('@current is the first project that the key may see, encoded or not', async () => {
    for (const id of ['@current', '%40current']) {
      const response = await ask('GET /api/projects/:project_id/', {
        ...bearer(await keyWith([], [otherId])),
        projectId: id,
      });
      expect(await response.json()).toMatchObject({ id: otherId, name: 'other' });
    }
    const nobody = await createUser(db(), { email: 'nobody@example.com', firstName: 'No' });
    await db().query('delete from organization_members where user_id = $1', [nobody.id]);
    const key = await createPersonalKey(db(), { label: 't', scopes: ['*'], userId: nobody.id });
    const none = await ask('GET /api/projects/:project_id/', { ...bearer(key), projectId: '@current' });
    await expectRefused(none, 404, 'not_found', 'Project not found.');
  });

  test('a key speaks for its user: it opens the projects of their organisation', async () => {
    const ada = await createUser(db(), { email: 'ada@example.com', firstName: 'Ada' });
    const key = bearer(await createPersonalKey(db(), { label: 't', scopes: [], userId: ada.id }));
    expect((await ask('GET /api/projects/:project_id/', key)).status).toBe(200);
    await db().query('delete from organization_members where user_id = $1', [ada.id]);
    expect((await ask('GET /api/projects/:project_id/', key)).status).toBe(403);
    expect(await (await ask('GET /api/projects/', key)).json()).toMatchObject({ count: 0 });
  });

  test('the list of projects holds those of the key, in pages', async () => {
    const all = await (
      await api.app.request('/api/projects/?limit=1', { headers: bearer(await keyWith([])) })
    ).json();
    expect(all).toMatchObject({
      count: 2,
      next: 'http://localhost/api/projects/?limit=1&offset=1',
      previous: null,
      results: [{ id: api.project.id }],
    });
    const restricted = await ask('GET /api/projects/', bearer(await keyWith([], [otherId])));
    expect(await restricted.json()).toMatchObject({ count: 1, results: [{ id: otherId }] });
  });
});
