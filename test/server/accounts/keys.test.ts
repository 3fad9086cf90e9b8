import { beforeAll, expect, test } from 'vitest';
import { createProjectKey, ensureProject } from '../../../src/server/auth/projects.ts';
import { createUser } from '../../../src/server/auth/users.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { createPersonalKey } from '../../support/keys.ts';

const PATH = '/api/personal_api_keys/';

interface Key {
  readonly id: number;
  readonly value: string;
  readonly user: { readonly email: string };
  readonly projects: number[] | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

onEveryDatabase('personal keys', (db) => {
  let api: TestApi;
  let otherId: number;
  let strangersId: number;
  const ids = { member: 0, admin: 0, owner: 0, stranger: 0 };
  beforeAll(async () => {
    api = await createTestApi(db());
    otherId = (await ensureProject(db(), { name: 'other', projectKey: createProjectKey() })).id;
    const add = async (email: string, level: 'member' | 'admin' | 'owner', organizationId?: string) =>
      (await createUser(db(), { email, firstName: email, level, organizationId })).id;
    ids.member = await add('member@example.com', 'member');
    ids.admin = await add('admin@example.com', 'admin');
    ids.owner = await add('second@example.com', 'owner');
    const [strangers] = await db().query<{ id: string }>(
      `insert into organizations (name) values ('strangers') returning id`,
    );
    ids.stranger = await add('stranger@example.com', 'owner', strangers?.id);
    const theirs = { name: 'theirs', projectKey: createProjectKey(), organizationId: strangers?.id ?? '' };
    strangersId = (await ensureProject(db(), theirs)).id;
  });

  const call = (key: string, method: string, path = PATH, body?: unknown) =>
    api.app.request(path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const make = (body: Record<string, unknown>, key = api.personalKey) =>
    call(key, 'POST', PATH, { label: 'made', scopes: ['person:read'], ...body });
  const made = async (body: Record<string, unknown> = {}, key = api.personalKey): Promise<Key> => {
    const response = await make(body, key);
    if (response.status !== 201) throw new Error(await response.text());
    return response.json() as Promise<Key>;
  };
  const keyOf = (userId: number, projectIds?: number[]) =>
    createPersonalKey(db(), { label: 'of', scopes: ['*'], userId, projectIds });
  const listed = async (key: string): Promise<Key[]> =>
    ((await (await call(key, 'GET', `${PATH}?limit=1000`)).json()) as { results: Key[] }).results;

  test('a key is shown once, in the answer that makes it, and works at once', async () => {
    const response = await make({ label: '  Nightly report ', scopes: ['person:read', 'cohort:read'] });
    expect(response.status).toBe(201);
    const key = (await response.json()) as Key;
    expect(key).toEqual({
      id: expect.any(Number),
      label: 'Nightly report',
      user: expect.objectContaining({ email: 'owner@backhaul.invalid' }),
      scopes: ['person:read', 'cohort:read'],
      projects: null,
      created_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      revoked_at: null,
      value: expect.stringMatching(/^phx_[0-9A-Za-z]{40,43}$/),
    });
    expect((await call(key.value, 'GET', `/api/projects/${api.project.id}/persons/`)).status).toBe(200);
    const [seen] = (await listed(api.personalKey)).filter(({ id }) => id === key.id);
    expect(seen).toMatchObject({ label: 'Nightly report', last_used_at: expect.stringMatching(/Z$/) });
    expect(JSON.stringify(await listed(api.personalKey))).not.toContain(key.value.slice(4));
  });

  test('a revoked key is refused from the next request on, and stays in the list', async () => {
    const key = await made();
    const current = `${PATH}@current/`;
    expect((await call(key.value, 'GET', current)).status).toBe(200);
    const revoked = await call(api.personalKey, 'DELETE', `${PATH}${key.id}/`);
    expect([revoked.status, await revoked.text()]).toEqual([204, '']);
    expect((await call(key.value, 'GET', current)).status).toBe(401);
    const revokedAt = async () => (await listed(api.personalKey)).find(({ id }) => id === key.id)?.revoked_at;
    const first = await revokedAt();
    expect(first).toMatch(/Z$/);
    expect((await call(api.personalKey, 'DELETE', `${PATH}${key.id}/`)).status).toBe(204);
    expect(await revokedAt()).toBe(first);
  });

  test('a key may ask what it is, whatever its scopes', async () => {
    const key = await made({ scopes: ['cohort:read'], projects: [api.project.id] });
    const seen = await (await call(key.value, 'GET', `${PATH}@current/`)).json();
    expect(seen).toMatchObject({ id: key.id, scopes: ['cohort:read'], projects: [api.project.id] });
    expect(seen).not.toHaveProperty('value');
  });

  test.each([
    [
      { scopes: ['persons:read'] },
      'scopes__0',
      'There is no scope "persons:read"; did you mean "person:read"?',
    ],
    [
      { scopes: ['person:read', 'x'] },
      'scopes__1',
      /^There is no scope "x"; the scopes are dashboard:read, /,
    ],
    [{ scopes: [] }, 'scopes', 'This list may not be empty.'],
    [{ scopes: 'person:read' }, 'scopes', 'Expected a list of items but got type "str".'],
    [{ label: '' }, 'label', 'This field may not be blank.'],
    [{ label: ' \t' }, 'label', 'This field may not be blank.'],
    [{ label: 'a\u001b[2J' }, 'label', 'Must not hold control characters.'],
    [{ label: 'x'.repeat(201) }, 'label', 'Ensure this field has no more than 200 characters.'],
    [{ label: undefined }, 'label', 'This field is required.'],
    [{ projects: [] }, 'projects', 'This list may not be empty.'],
    [{ projects: ['one'] }, 'projects__0', 'A valid integer is required.'],
    [{ user: 'nobody@example.com' }, 'user', 'There is no user "nobody@example.com".'],
    [{ user: 999_999 }, 'user', 'There is no user "999999".'],
    [{ user: 'stranger@example.com' }, 'user', 'There is no user "stranger@example.com".'],
  ])('refuses %j', async (wrong, attr, detail) => {
    const response = await make(wrong);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: 'validation_error',
      attr,
      detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
    });
  });

  test('takes a label of 200 characters, and each scope and project once', async () => {
    const { id } = api.project;
    const scopes = ['person:read', 'cohort:read', 'person:read'];
    expect(await made({ label: 'x'.repeat(200), scopes, projects: [id, otherId, id] })).toMatchObject({
      scopes: ['person:read', 'cohort:read'],
      projects: [id, otherId],
    });
  });

  test('refuses projects that the user of the key does not see', async () => {
    for (const id of [strangersId, 999_999]) {
      const response = await make({ projects: [api.project.id, id] });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'does_not_exist', attr: 'projects' });
    }
  });

  test('an administrator makes keys for whom they are not below, found by id or e-mail address', async () => {
    const admin = await keyOf(ids.admin);
    expect(await made({ user: 'MEMBER@example.com' }, admin)).toMatchObject({
      user: { email: 'member@example.com' },
    });
    expect((await made({ user: String(ids.member) }, admin)).user.email).toBe('member@example.com');
    expect((await made({ user: ids.admin }, admin)).user.email).toBe('admin@example.com');
    expect((await make({ user: ids.owner }, admin)).status).toBe(403);
    expect((await made({ user: ids.owner })).user.email).toBe('second@example.com');
  });

  test('a member manages their own keys and nobody else’s', async () => {
    const member = await keyOf(ids.member);
    const own = await made({}, member);
    expect(own.user.email).toBe('member@example.com');
    expect((await make({ user: ids.admin }, member)).status).toBe(403);
    expect(new Set((await listed(member)).map(({ user }) => user.email))).toEqual(
      new Set(['member@example.com']),
    );
    const others = await made();
    expect((await call(member, 'DELETE', `${PATH}${others.id}/`)).status).toBe(404);
    expect((await call(others.value, 'GET', `${PATH}@current/`)).status).toBe(200);
    expect((await call(member, 'DELETE', `${PATH}${own.id}/`)).status).toBe(204);
  });

  test('an administrator reaches nobody who belongs to an organisation that they do not administer', async () => {
    const both = await createUser(db(), { email: 'both@example.com', firstName: 'Both' });
    const [theirs] = await db().query<{ organization_id: string }>(
      'select organization_id from organization_members where user_id = $1',
      [ids.stranger],
    );
    await db().query('insert into organization_members values ($1, $2, 1)', [
      theirs?.organization_id ?? '',
      both.id,
    ]);
    expect((await make({ user: both.id })).status).toBe(403);
    expect((await listed(api.personalKey)).map(({ user }) => user.email)).not.toContain('both@example.com');
  });

  test('a key restricted to projects makes, sees and revokes only keys restricted to these', async () => {
    const restricted = await keyOf(ids.owner, [api.project.id]);
    expect((await made({}, restricted)).projects).toEqual([api.project.id]);
    const wide = await make({ projects: null }, restricted);
    expect(wide.status).toBe(403);
    expect(await wide.json()).toMatchObject({
      detail: 'An API key that is restricted to projects cannot make one that is not.',
    });
    expect((await make({ projects: [api.project.id, otherId] }, restricted)).status).toBe(400);

    const [free, other] = [await made(), await made({ projects: [otherId] })];
    const seen = await listed(restricted);
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.every(({ projects }) => projects?.join() === String(api.project.id))).toBe(true);
    for (const { id } of [free, other]) {
      expect((await call(restricted, 'DELETE', `${PATH}${id}/`)).status).toBe(404);
    }
  });

  test.each(['0', '999999', '99999999999', 'x', '-1'])('there is no key %s to revoke', async (id) => {
    expect((await call(api.personalKey, 'DELETE', `${PATH}${id}/`)).status).toBe(404);
  });

  test('the list comes in pages', async () => {
    const page = await (await call(api.personalKey, 'GET', `${PATH}?limit=1&offset=1`)).json();
    expect(page).toMatchObject({ results: [{ id: expect.any(Number) }] });
    expect(page).toMatchObject({
      next: `http://localhost${PATH}?limit=1&offset=2`,
      previous: `http://localhost${PATH}?limit=1&offset=0`,
    });
  });
});
