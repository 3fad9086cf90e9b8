import { beforeAll, expect, test } from 'vitest';
import { createProjectKey, ensureProject, type Project } from '../../../src/server/auth/projects.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { EXPECTED_PUBLIC } from '../auth/expected-access.ts';

/** Who may send, or ask for decisions: whoever has the key of a project, in the body. */
const PATHS = Object.entries(EXPECTED_PUBLIC)
  .filter(([route, opener]) => route.startsWith('POST ') && opener === 'the project key in the body')
  .map(([route]) => route.slice('POST '.length));

const ASKING = new Set(['/decide', '/flags/']);

onEveryDatabase('access to ingestion', (db) => {
  let api: TestApi;
  let other: Project;
  beforeAll(async () => {
    api = await createTestApi(db());
    other = await ensureProject(db(), { name: 'other', projectKey: createProjectKey() });
  });

  const event = (distinctId = 'd') => ({ event: 'e', properties: { distinct_id: distinctId } });
  const received = async (project: Project) => {
    const [row] = await db().query<{ count: number }>(
      'select count(*) as count from events where project_id = $1',
      [project.id],
    );
    return row?.count ?? 0;
  };

  test('every public endpoint that is posted to takes a project key', () => {
    const posts = api.app.routes.filter(({ method, path }) => method === 'POST' && !path.startsWith('/api/'));
    expect(posts.map(({ path }) => path).sort()).toEqual([...PATHS].sort());
  });

  test.each(PATHS)('%s takes the key of a project', async (path) => {
    const send = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
      api.post(path, { ...event(), ...body }, headers);
    const before = await received(api.project);
    for (const [key, code] of [
      [undefined, 'missing_api_key'],
      [null, 'missing_api_key'],
      [7, 'not_string'],
      [{}, 'not_string'],
      ['', 'empty'],
      ['phc_unknown', 'invalid_api_key'],
      ['x'.repeat(64), 'invalid_api_key'],
      ['x'.repeat(65), 'too_long'],
      ['phc_ü', 'not_ascii'],
      [api.personalKey, 'personal_api_key'],
    ] as const) {
      const response = await send({ api_key: key });
      expect([key, response.status, await response.json()]).toEqual([
        key,
        401,
        { type: 'authentication_error', code, detail: expect.any(String), attr: null },
      ]);
    }
    const authorization = `Bearer ${api.personalKey}`;
    expect((await send({}, { authorization })).status).toBe(401);
    expect(await received(api.project)).toBe(before);

    const { projectKey } = api.project;
    expect((await send({ api_key: projectKey })).status).toBe(200);
    expect((await send({ token: projectKey }, { authorization: 'Bearer phx_wrong' })).status).toBe(200);
    if (!ASKING.has(path)) {
      const batch = { api_key: projectKey, batch: [event()] };
      expect((await api.post(path, batch)).status).toBe(200);
    }
    expect(await received(api.project)).toBe(ASKING.has(path) ? before : before + 3);
    expect(await received(other)).toBe(0);
  });

  test('events of two projects do not come in one request', async () => {
    const keys = [api.project.projectKey, other.projectKey];
    const response = await api.post(
      '/batch/',
      keys.map((key) => ({ ...event(), token: key })),
    );
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'invalid_api_key' });
    expect(await received(other)).toBe(0);
  });
});
