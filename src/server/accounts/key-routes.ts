import type { z } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { createKey, type PersonalKey } from '../auth/keys.ts';
import { loadProjects } from '../auth/projects.ts';
import { loadUser, loadUsers, type User } from '../auth/users.ts';
import type { Db } from '../database/db.ts';
import { ApiError, notFound, permissionDenied } from '../http/errors.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { parseRowId } from '../http/row-id.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { findUser, loadKey, loadKeys, revokeKey, type StoredKey } from './key-store.ts';
import { createdKeySchema, keySchema, MAX_PAGE, newKeySchema } from './schema.ts';

/**
 * Personal keys, beyond the contract: created, listed and revoked with a key of scope `*`. A key reaches
 * the keys that it could have created, and none that opens more than itself: those of its own user; for an
 * administrator also those of users whom they are not below; and only within its own projects if it is
 * restricted to some.
 */
const tag = 'Keys and users (beyond the contract)';

export function addKeyRoutes(api: Api, { db, log }: { db: Db; log: Logger }): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/personal_api_keys/',
      scopes: ['*'],
      summary: 'List the personal keys within reach, revoked ones too',
      tag,
      query: pageQuery,
      responses: { 200: { description: 'Keys, oldest first.', schema: paged(keySchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_PAGE);
      const { count, keys } = await loadKeys(db, c.get('key'), page);
      const users = await loadUsers(
        db,
        keys.map(({ userId }) => userId),
      );
      const results = keys.flatMap((key) => {
        const user = users.get(key.userId);
        return user === undefined ? [] : [renderKey(key, user)];
      });
      return respondWithJson(c, renderPage(getPublicUrl(c), page, count, results));
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: '/api/personal_api_keys/',
      scopes: ['*'],
      summary: 'Make a personal key',
      description:
        'Only this response contains the key itself, in `value`: its hash is stored, the key is not.',
      tag,
      body: newKeySchema,
      responses: { 201: { description: 'The key.', schema: createdKeySchema } },
    },
    async ({ c, body }) => {
      const callerKey = c.get('key');
      const userId = await findKeyUser(db, callerKey, body.user);
      const wanted = body.projects === undefined ? callerKey.projectIds : body.projects;
      const projectIds = wanted && [...new Set(wanted)];
      await checkProjects(db, callerKey, userId, projectIds);
      const { label } = body;
      const scopes = [...new Set(body.scopes)];
      const { id, token } = await createKey(db, { label, scopes, projectIds, userId });
      log.info({ key: id, user: userId, scopes, by: callerKey.id }, 'personal key made');
      return respondWithJson(c, { ...(await renderOne(db, callerKey, id)), value: token }, 201);
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/personal_api_keys/@current/',
      anyKey: 'a key may read what it is itself',
      summary: 'Retrieve the key of the request',
      description: 'For any valid key, whatever its scopes.',
      tag,
      responses: { 200: { description: 'The key.', schema: keySchema } },
    },
    async ({ c }) => respondWithJson(c, await renderOne(db, c.get('key'), c.get('key').id)),
  );
  addRoute(
    api,
    {
      method: 'delete',
      path: '/api/personal_api_keys/:id/',
      scopes: ['*'],
      summary: 'Revoke a personal key, at once and for good',
      tag,
      params: { id: 'integer' },
      responses: {
        204: { description: 'The key opens nothing any more. Its row stays, with `revoked_at`.' },
      },
    },
    async ({ c }) => {
      const callerKey = c.get('key');
      const id = parseRowId(c.req.param('id'));
      if (id === undefined || !(await revokeKey(db, callerKey, id))) throw notFound();
      log.info({ key: id, by: callerKey.id }, 'personal key revoked');
      return c.body(null, 204);
    },
  );
}

/** The user that a new key will act for. */
async function findKeyUser(
  db: Db,
  callerKey: PersonalKey,
  named: number | string | undefined,
): Promise<number> {
  if (named === undefined) return callerKey.userId;
  const user = await findUser(db, callerKey.userId, named);
  if (user === undefined) throw doesNotExist(`There is no user "${named}".`, 'user');
  if (user.actsFor) return user.id;
  throw permissionDenied(
    'Your level in the organization is insufficient: keys of other users take an administrator, who is not below them.',
  );
}

/** A key cannot open projects that its user does not see, nor more than the caller's key opens. */
async function checkProjects(
  db: Db,
  callerKey: PersonalKey,
  userId: number,
  projectIds: readonly number[] | null,
): Promise<void> {
  if (callerKey.projectIds !== null && projectIds === null) {
    throw permissionDenied('An API key that is restricted to projects cannot make one that is not.');
  }
  if (projectIds === null) return;
  const visible = (await loadProjects(db, userId, callerKey.projectIds)).map(({ id }) => id);
  const unseen = projectIds.find((id) => !visible.includes(id));
  if (unseen !== undefined) throw doesNotExist(`There is no project ${unseen} for this key.`, 'projects');
}

const doesNotExist = (detail: string, attr: string) =>
  new ApiError(400, 'validation_error', 'does_not_exist', detail, attr);

async function renderOne(db: Db, callerKey: PersonalKey, id: number): Promise<z.infer<typeof keySchema>> {
  const key = await loadKey(db, callerKey, id);
  const user = key && (await loadUser(db, key.userId));
  if (key === undefined || user === undefined) throw notFound();
  return renderKey(key, user);
}

const renderKey = (key: StoredKey, user: User): z.infer<typeof keySchema> => ({
  id: key.id,
  label: key.label,
  user,
  scopes: [...key.scopes],
  projects: key.projects === null ? null : [...key.projects],
  created_at: key.createdAt,
  last_used_at: key.lastUsedAt,
  revoked_at: key.revokedAt,
});
