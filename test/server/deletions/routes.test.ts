import { beforeAll, expect, it } from 'vitest';
import { buildApi } from '../../../src/server/app.ts';
import { createProjectKey, ensureProject } from '../../../src/server/auth/projects.ts';
import { createUser } from '../../../src/server/auth/users.ts';
import { runDeletions } from '../../../src/server/deletions/run-deletions.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase, silent } from '../../support/databases.ts';
import { deletePersonWithEvents } from '../../support/deleted-person.ts';
import { createPersonalKey } from '../../support/keys.ts';

interface Listed {
  count: number;
  next: string | null;
  results: Record<string, unknown>[];
}

onEveryDatabase('the endpoints of deletions', (db) => {
  let api: TestApi;
  let removed: string[];
  beforeAll(async () => {
    api = await createTestApi(db());
    removed = [];
    for (const id of ['ada', 'bob', 'carl']) {
      await api.send({ event: 'seen', distinct_id: id });
      removed.push(await deletePersonWithEvents(db(), api.project.id, id));
      if (id === 'ada') {
        const signal = new AbortController().signal;
        await runDeletions(db(), { signal, onProgress: () => {}, log: silent });
      }
    }
  });

  const call = (path: string, key = api.personalKey, method = 'GET') =>
    api.app.request(`/api/deletions/${path}`, { method, headers: { authorization: `Bearer ${key}` } });
  const list = async (query: string, key?: string) => (await (await call(query, key)).json()) as Listed;
  const persons = ({ results }: Listed) => results.map((deletion) => deletion['person_uuid']);

  it('list what is queued and what has gone, newest first', async () => {
    const all = await list('');
    expect(all.count).toBe(3);
    expect(persons(all)).toEqual([...removed].reverse());
    expect(all.results[0]).toEqual({
      id: expect.any(Number),
      project_id: api.project.id,
      person_uuid: removed[2],
      distinct_id_count: 1,
      state: 'queued',
      created_by: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      started_at: null,
      deleted_events: 0,
      verified_at: null,
      last_error: null,
    });
    expect(all.results[2]).toMatchObject({ state: 'verified', deleted_events: 1, last_error: null });
  });

  it.each([
    ['queued', 2, 0],
    ['started', 0, 0],
    ['verified', 1, 1],
    ['open', 2, 0],
  ])('list those that are %s', async (state, count, events) => {
    const listed = await list(`?state=${state}`);
    expect(listed).toMatchObject({ count, deleted_events: events });
    expect(listed.results).toHaveLength(count);
  });

  it('page through them', async () => {
    const first = await list('?limit=2');
    expect(persons(first)).toEqual([removed[2], removed[1]]);
    const second = await list(new URL(first.next ?? '').search);
    expect(persons(second)).toEqual([removed[0]]);
    expect(second.next).toBeNull();
  });

  it('refuse a state that there is not', async () => {
    const response = await call('?state=gone');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_choice', attr: 'state' });
  });

  it('say who asked for a deletion', async () => {
    await api.send({ event: 'seen', distinct_id: 'dora' });
    const uuid = await deletePersonWithEvents(db(), api.project.id, 'dora');
    await db().query('update deletions set created_by = (select min(id) from users) where person_uuid = $1', [
      uuid,
    ]);
    expect((await list('?limit=1')).results[0]).toMatchObject({
      person_uuid: uuid,
      created_by: { email: 'owner@backhaul.invalid' },
    });
  });

  it('show a key the projects that it may see, and no others', async () => {
    const other = await createTestApi(db());
    const limited = { label: 't', scopes: ['*' as const], projectIds: [other.project.id] };
    expect(await list('', await createPersonalKey(db(), limited))).toMatchObject({ count: 0, results: [] });
  });

  it('run for the projects that the caller owns, and for no others', async () => {
    const asked: (readonly number[])[] = [];
    const app = buildApi({
      db: db(),
      log: silent,
      deletionRuns: {
        ask: async (projectIds) => {
          asked.push(projectIds);
          return '1';
        },
        state: async () => undefined,
      },
    });
    const run = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await app.request('/api/deletions/run/', { method: 'POST', headers })).status;
    };
    const [strangers] = await db().query<{ id: string }>(
      `insert into organizations (name) values ('strangers') returning id`,
    );
    const theirs = await ensureProject(db(), {
      name: 'theirs',
      projectKey: createProjectKey(),
      organizationId: strangers?.id ?? '',
    });
    const limited = { label: 't', scopes: ['*' as const], projectIds: [api.project.id] };
    expect(await run(api.personalKey)).toBe(202);
    expect(await run(await createPersonalKey(db(), limited))).toBe(202);
    expect(asked[0]).toContain(api.project.id);
    expect(asked[0]).not.toContain(theirs.id);
    expect(asked[1]).toEqual([api.project.id]);

    const admin = await createUser(db(), { email: 'admin@example.com', firstName: 'A', level: 'admin' });
    const key = await createPersonalKey(db(), { label: 't', scopes: ['*'], userId: admin.id });
    expect(await run(key)).toBe(403);
    expect(asked).toHaveLength(2);
  });

  it('show a run to owners of its projects alone, and a reason where all of them are theirs', async () => {
    const [strangers] = await db().query<{ id: string }>(
      `insert into organizations (name) values ('others') returning id`,
    );
    const theirs = await ensureProject(db(), {
      name: 'theirs, too',
      projectKey: createProjectKey(),
      organizationId: strangers?.id ?? '',
    });
    const see = async (projectIds: readonly number[] | undefined, key = api.personalKey) => {
      const state = async () => ({ state: 'failed', reason: 'why', projectIds }) as const;
      const app = buildApi({ db: db(), log: silent, deletionRuns: { ask: async () => '1', state } });
      const headers = { authorization: `Bearer ${key}` };
      const response = await app.request('/api/deletions/run/1/', { headers });
      return response.status === 200 ? await response.json() : response.status;
    };
    expect(await see([api.project.id])).toEqual({ job_id: '1', state: 'failed', reason: 'why' });
    expect(await see([theirs.id])).toBe(404);
    expect(await see([api.project.id, theirs.id])).toMatchObject({ state: 'failed', reason: null });
    expect(await see(undefined)).toMatchObject({ state: 'failed', reason: null });
    const member = await createUser(db(), { email: 'm@example.com', firstName: 'M', level: 'member' });
    const key = await createPersonalKey(db(), { label: 't', scopes: ['*'], userId: member.id });
    expect(await see(undefined, key)).toBe(404);
  });

  it('answer 404 where nobody runs the job', async () => {
    for (const response of [await call('run/', undefined, 'POST'), await call('run/1/')]) {
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'not_found' });
    }
  });
});
