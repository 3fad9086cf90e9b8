import { beforeAll, expect, test } from 'vitest';
import { buildApi } from '../../../src/server/app.ts';
import { createUser, loadMemberLevel } from '../../../src/server/auth/users.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase, silent } from '../../support/databases.ts';
import { createPersonalKey } from '../../support/keys.ts';

interface ListedUser {
  readonly id: number;
  readonly uuid: string;
  readonly email: string;
  readonly organizations: { readonly id: string; readonly level: number }[];
}

onEveryDatabase('users and members', (db) => {
  let api: TestApi;
  let organizationId: string;
  let strangersId: string;
  let strangersUuid: string;
  beforeAll(async () => {
    api = await createTestApi(db());
    ({ organizationId } = api.project);
    const [strangers] = await db().query<{ id: string }>(
      `insert into organizations (name) values ('strangers') returning id`,
    );
    strangersId = strangers?.id ?? '';
    const wanted = {
      email: 's@example.com',
      firstName: 'S',
      level: 'owner',
      organizationId: strangersId,
    } as const;
    strangersUuid = (await createUser(db(), wanted)).uuid;
  });

  const call = (method: string, path: string, body?: unknown, key = api.personalKey) =>
    api.app.request(path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const add = (email: string, more: Record<string, unknown> = {}, key = api.personalKey) =>
    call('POST', '/api/users/', { email, first_name: 'Some', ...more }, key);
  const added = async (email: string, more: Record<string, unknown> = {}): Promise<ListedUser> => {
    const response = await add(email, more);
    if (response.status !== 201) throw new Error(await response.text());
    return response.json() as Promise<ListedUser>;
  };
  const keyOf = (userId: number, projectIds?: number[]) =>
    createPersonalKey(db(), { label: 'of', scopes: ['*'], userId, projectIds });
  const members = (organization = organizationId) => `/api/organizations/${organization}/members/`;

  test('a user is added to the organisation of who asks, and listed there', async () => {
    const ada = await added('Ada@example.com', { first_name: 'Ada', last_name: 'Lovelace', level: 'admin' });
    expect(ada).toMatchObject({
      email: 'Ada@example.com',
      first_name: 'Ada',
      last_name: 'Lovelace',
      is_email_verified: false,
      hedgehog_config: {},
      organizations: [{ id: organizationId, name: 'Backhaul', level: 8 }],
    });
    const list = await (await call('GET', '/api/users/')).json();
    expect(list).toMatchObject({ results: expect.arrayContaining([ada]) });
    expect(JSON.stringify(list)).not.toContain('s@example.com');
    const again = await add('ADA@example.com');
    expect(again.status).toBe(400);
    expect(await again.json()).toMatchObject({ code: 'unique', attr: 'email' });
  });

  test('any valid key may ask whose it is', async () => {
    const bob = await added('bob@example.com');
    const key = await createPersonalKey(db(), { label: 't', scopes: [], userId: bob.id });
    expect(await (await call('GET', '/api/users/@me/', undefined, key)).json()).toEqual(bob);
  });

  test.each([
    [{ email: 'nobody' }, 'email', 'Enter a valid email address.'],
    [
      { email: `${'x'.repeat(250)}@example.com` },
      'email',
      'Ensure this field has no more than 254 characters.',
    ],
    [{ first_name: '' }, 'first_name', 'This field may not be blank.'],
    [{ first_name: undefined }, 'first_name', 'This field is required.'],
    [{ level: 9 }, 'level', '"9" is not a valid choice.'],
    [{ level: 'boss' }, 'level', '"boss" is not a valid choice.'],
    [{ organization: 'x' }, 'organization', 'Must be a valid UUID.'],
  ])('refuses %j', async (wrong, attr, detail) => {
    const response = await add('refused@example.com', wrong);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ attr, detail });
  });

  test('nobody adds users above themselves, to another organisation, or with a restricted key', async () => {
    const admin = await keyOf((await added('admin@example.com', { level: 8 })).id);
    const member = await keyOf((await added('member@example.com')).id);
    const [owner] = await db().query<{ user_id: number }>('select user_id from organization_members limit 1');
    const restricted = await keyOf(owner?.user_id ?? 0, [api.project.id]);
    const statuses = [
      await add('a1@example.com', { level: 15 }, admin),
      await add('a2@example.com', { level: 8 }, admin),
      await add('a3@example.com', {}, member),
      await add('a4@example.com', {}, restricted),
      await add('a5@example.com', { organization: strangersId }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 201, 403, 403, 400]);
  });

  test('projects are created by administrators, and carry their key', async () => {
    const made = await call('POST', '/api/projects/', { name: 'Shop' });
    expect(made.status).toBe(201);
    const project = (await made.json()) as { id: number; api_token: string };
    expect(project).toMatchObject({ name: 'Shop', organization: organizationId });
    const event = { api_key: project.api_token, event: 'e', distinct_id: 'd' };
    expect((await api.post('/capture/', event)).status).toBe(200);
    const listed = await call('GET', `/api/projects/${project.id}/`);
    expect(await listed.json()).toEqual(project);

    const member = await keyOf((await added('plain@example.com')).id);
    expect((await call('POST', '/api/projects/', { name: 'No' }, member)).status).toBe(403);
    const body = { name: 'No', organization: strangersId };
    expect((await call('POST', '/api/projects/', body)).status).toBe(400);
    expect((await call('POST', '/api/projects/', { name: '' })).status).toBe(400);
  });

  test('levels are listed and changed', async () => {
    const eve = await added('eve@example.com');
    const changed = await call('PATCH', `${members()}${eve.uuid}/`, { level: 8 });
    expect(changed.status).toBe(200);
    expect(await changed.json()).toMatchObject({ level: 8, user: { id: eve.id } });
    const list = await (await call('GET', `${members('@current')}?limit=500`)).json();
    expect(list).toMatchObject({
      results: expect.arrayContaining([
        {
          user: expect.objectContaining({ email: 'eve@example.com' }),
          level: 8,
          joined_at: expect.any(String),
        },
      ]),
    });
  });

  test('nobody changes the level of members of another organisation, nor of who is above them', async () => {
    const admin = await keyOf((await added('chief@example.com', { level: 'admin' })).id);
    const [owner] = ((await (await call('GET', members())).json()) as { results: { user: ListedUser }[] })
      .results;
    const restricted = await keyOf(owner?.user.id ?? 0, [api.project.id]);
    const member = await added('low@example.com');
    const statuses = [
      await call('PATCH', `${members()}${owner?.user.uuid}/`, { level: 1 }, admin),
      await call('PATCH', `${members()}${member.uuid}/`, { level: 15 }, admin),
      await call('PATCH', `${members()}${member.uuid}/`, { level: 8 }, await keyOf(member.id)),
      await call('PATCH', `${members()}${member.uuid}/`, { level: 8 }, restricted),
      await call('PATCH', `${members(strangersId)}${strangersUuid}/`, { level: 1 }),
      await call('PATCH', `${members()}${strangersUuid}/`, { level: 1 }),
      await call('PATCH', `${members()}x/`, { level: 1 }),
      await call('GET', members(strangersId)),
      await call('GET', members('x')),
      await call('PATCH', `${members()}${member.uuid}/`, { level: 'admin' }, admin),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 403, 403, 404, 404, 404, 404, 404, 200]);
  });

  test('members are removed, and what their keys opened is closed; they can be added again', async () => {
    const fay = await added('fay@example.com');
    const key = await keyOf(fay.id);
    const persons = `/api/projects/${api.project.id}/persons/`;
    expect((await call('GET', persons, undefined, key)).status).toBe(200);
    const remove = (uuid: string, by?: string) => call('DELETE', `${members()}${uuid}/`, undefined, by);

    const low = await keyOf((await added('lower@example.com')).id);
    const chief = await keyOf((await added('chief2@example.com', { level: 'admin' })).id);
    const [owner] = ((await (await call('GET', members())).json()) as { results: { user: ListedUser }[] })
      .results;
    const refused = [
      await remove(fay.uuid, low),
      await remove(owner?.user.uuid ?? '', chief),
      await remove(owner?.user.uuid ?? ''), // the last owner
      await remove(strangersUuid),
      await remove('x'),
    ].map(({ status }) => status);
    expect(refused).toEqual([403, 403, 400, 404, 404]);

    expect((await remove(fay.uuid, chief)).status).toBe(204);
    expect((await call('GET', persons, undefined, key)).status).toBe(401);
    expect((await remove(fay.uuid)).status).toBe(404);
    const again = await added('FAY@example.com', { first_name: 'Fay' });
    expect(again).toMatchObject({
      id: fay.id,
      first_name: 'Fay',
      organizations: [{ id: organizationId, level: 1 }],
    });
    expect((await call('GET', persons, undefined, key)).status).toBe(401);

    const gus = await added('gus@example.com');
    expect((await remove(gus.uuid, await keyOf(gus.id))).status).toBe(204); // everybody may leave
  });

  test('projects are renamed, and their keys replaced, by administrators', async () => {
    const made = await call('POST', '/api/projects/', { name: 'Before' });
    const { id, api_token: old } = (await made.json()) as { id: number; api_token: string };
    const path = `/api/projects/${id}/`;
    const member = await keyOf((await added('renamer@example.com')).id);
    expect((await call('PATCH', path, { name: 'No' }, member)).status).toBe(403);
    expect((await call('POST', `${path}reset_token/`, undefined, member)).status).toBe(403);
    expect(await (await call('PATCH', path, { name: 'After' })).json()).toMatchObject({
      id,
      name: 'After',
      api_token: old,
    });
    expect((await call('PATCH', path, { name: '' })).status).toBe(400);

    const capture = async (key: string) =>
      (await api.post('/capture/', { api_key: key, event: 'e', distinct_id: 'd' })).status;
    const replaced = (await (await call('POST', `${path}reset_token/`)).json()) as { api_token: string };
    expect(replaced.api_token).toMatch(/^phc_/);
    expect(replaced.api_token).not.toBe(old);
    expect([await capture(old), await capture(replaced.api_token)]).toEqual([401, 200]);
  });

  test('the key that every start makes valid is not replaced', async () => {
    const app = buildApi({ db: db(), log: silent, fixedProjectKey: api.project.projectKey });
    const response = await app.request(`/api/projects/${api.project.id}/reset_token/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.personalKey}` },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('keys.json');
  });

  test('an organisation keeps an owner, even when all step down at once', async () => {
    const [first, second] = await Promise.all(
      ['one@example.com', 'two@example.com'].map((email) =>
        createUser(db(), { email, firstName: email, level: 'owner', organizationId: strangersId }),
      ),
    );
    const theirs = [first, second].map((user) => ({ uuid: user?.uuid ?? '', id: user?.id ?? 0 }));
    await db().query(
      'delete from organization_members where organization_id = $1 and user_id <> all($2::integer[])',
      [strangersId, theirs.map(({ id }) => id)],
    );
    const answers = await Promise.all(
      theirs.map(async ({ id, uuid }) => {
        const response = await call(
          'PATCH',
          `${members(strangersId)}${uuid}/`,
          { level: 1 },
          await keyOf(id),
        );
        return [response.status, ((await response.json()) as { detail?: string }).detail];
      }),
    );
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200, 400]));
    expect(answers.map(([, detail]) => detail)).toContain(
      'The last owner of an organization stays its owner.',
    );
    const levels = await Promise.all(theirs.map(({ id }) => loadMemberLevel(db(), strangersId, id)));
    expect(new Set(levels)).toEqual(new Set([1, 15]));
  });
});
