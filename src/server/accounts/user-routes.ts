import type { z } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { createUser, loadUsers, MEMBER_LEVEL, type User } from '../auth/users.ts';
import { type Db, getSqlState } from '../database/db.ts';
import { ApiError, permissionDenied } from '../http/errors.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { loadFellows } from './member-store.ts';
import { loadMemberships, type Membership, requireAdministered } from './memberships.ts';
import { MAX_PAGE, memberUserSchema, newUserSchema } from './schema.ts';

const tag = 'Keys and users (beyond the contract)';
const UNIQUE_VIOLATION = '23505';

export function addUserRoutes(api: Api, { db, log }: { db: Db; log: Logger }): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/users/',
      scopes: ['*'],
      summary: 'List the users of your organizations',
      tag,
      query: pageQuery,
      responses: { 200: { description: 'Users in order of id.', schema: paged(memberUserSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_PAGE);
      const callerId = c.get('user').id;
      const { count, userIds } = await loadFellows(db, callerId, page);
      const users = await loadUsers(db, userIds);
      const memberships = await loadMemberships(db, [callerId, ...userIds]);
      const own = new Set(memberships.get(callerId)?.map(({ organizationId }) => organizationId));
      const results = userIds.flatMap((id) => {
        const user = users.get(id);
        const shared = (memberships.get(id) ?? []).filter(({ organizationId }) => own.has(organizationId));
        return user === undefined ? [] : [renderUser(user, shared)];
      });
      return respondWithJson(c, renderPage(getPublicUrl(c), page, count, results));
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: '/api/users/',
      scopes: ['*'],
      summary: 'Add a user to an organization',
      description: 'Users do not sign in: personal keys act for them.',
      tag,
      body: newUserSchema,
      responses: { 201: { description: 'The user.', schema: memberUserSchema } },
    },
    async ({ c, body }) => {
      const callerId = c.get('user').id;
      const own = (await loadMemberships(db, [callerId])).get(callerId) ?? [];
      const organization = requireAdministered(c.get('key'), own, body.organization);
      const level = body.level ?? 'member';
      if (MEMBER_LEVEL[level] > organization.level) {
        throw permissionDenied(
          'Your level in the organization is insufficient: nobody adds users above them.',
        );
      }
      const user = await createMember(db, {
        email: body.email,
        firstName: body.first_name,
        lastName: body.last_name,
        level,
        organizationId: organization.organizationId,
      });
      log.info({ user: user.id, level, by: c.get('key').id }, 'user added');
      return respondWithJson(c, renderUser(user, [{ ...organization, level: MEMBER_LEVEL[level] }]), 201);
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/users/@me/',
      anyKey: 'a key may read whose it is',
      summary: 'Retrieve the user of the key',
      description: 'For any valid key, whatever its scopes.',
      tag,
      responses: { 200: { description: 'The user.', schema: memberUserSchema } },
    },
    async ({ c }) => {
      const user = c.get('user');
      return respondWithJson(c, renderUser(user, (await loadMemberships(db, [user.id])).get(user.id) ?? []));
    },
  );
}

async function createMember(db: Db, wanted: Parameters<typeof createUser>[1]): Promise<User> {
  try {
    return await db.transaction((tx) => createUser(tx, wanted));
  } catch (error) {
    if (getSqlState(error) !== UNIQUE_VIOLATION) throw error;
    throw new ApiError(
      400,
      'validation_error',
      'unique',
      'There is a user with this email address.',
      'email',
    );
  }
}

const renderUser = (user: User, memberships: readonly Membership[]): z.infer<typeof memberUserSchema> => ({
  ...user,
  organizations: memberships.map(({ organizationId: id, organizationName: name, level }) => ({
    id,
    name,
    level,
  })),
});
