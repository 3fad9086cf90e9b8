import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { ApiEnv } from '../auth/access.ts';
import { loadUserByUuid, loadUsers, MEMBER_LEVEL, type User } from '../auth/users.ts';
import type { Db } from '../database/db.ts';
import { ApiError, notFound, permissionDenied } from '../http/errors.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { isUuid } from '../http/row-id.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { changeMember, loadMembers, type Member } from './member-store.ts';
import { loadMemberships, type Membership, requireAdministered } from './memberships.ts';
import { MAX_PAGE, memberSchema, newLevelSchema } from './schema.ts';

const tag = 'Keys and users (beyond the contract)';

/** Members of an organisation and their levels. */
export function addMemberRoutes(api: Api, { db, log }: { db: Db; log: Logger }): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/organizations/:organization_id/members/',
      scopes: ['*'],
      summary: 'List the members of an organization',
      description: '`@current` stands for the first organization of the user.',
      tag,
      query: pageQuery,
      responses: { 200: { description: 'Members, the first joined first.', schema: paged(memberSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_PAGE);
      const { organizationId } = await findOrganization(db, c);
      const { count, members } = await loadMembers(db, organizationId, page);
      const users = await loadUsers(
        db,
        members.map(({ userId }) => userId),
      );
      const results = members.map(({ userId, level, joinedAt }) => ({
        user: users.get(userId),
        level,
        joined_at: joinedAt,
      }));
      return respondWithJson(c, renderPage(getPublicUrl(c), page, count, results));
    },
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: '/api/organizations/:organization_id/members/:user__uuid/',
      scopes: ['*'],
      summary: 'Change the level of a member',
      tag,
      params: { user__uuid: 'uuid' },
      preHandler: (c) => findOrganization(db, c),
      body: newLevelSchema,
      responses: { 200: { description: 'The member.', schema: memberSchema } },
    },
    async ({ c, body }) => {
      const level = MEMBER_LEVEL[body.level];
      const { user, member } = await change(db, c, level);
      log.info({ user: user.id, level, by: c.get('key').id }, 'level of a member changed');
      return respondWithJson(c, { user, level: member.level, joined_at: member.joinedAt });
    },
  );
  addRoute(
    api,
    {
      method: 'delete',
      path: '/api/organizations/:organization_id/members/:user__uuid/',
      scopes: ['*'],
      summary: 'Remove a member from the organization, or leave it',
      description: 'Their personal keys do not reach its projects any more, from the next request on.',
      tag,
      params: { user__uuid: 'uuid' },
      responses: { 204: { description: 'The user is no member any more.' } },
    },
    async ({ c }) => {
      const { user } = await change(db, c, 'none');
      log.info({ user: user.id, by: c.get('key').id }, 'member removed');
      return c.body(null, 204);
    },
  );
}

async function change(
  db: Db,
  c: Context<ApiEnv>,
  level: number | 'none',
): Promise<{ user: User; member: Member }> {
  const organization = await findOrganization(db, c);
  const uuid = c.req.param('user__uuid') ?? '';
  const user = isUuid(uuid) ? await loadUserByUuid(db, uuid) : undefined;
  const callerId = c.get('user').id;
  const isLeaving = level === 'none' && user?.id === callerId;
  const { organizationId } = organization;
  if (!isLeaving || c.get('key').projectIds !== null) {
    requireAdministered(c.get('key'), [organization], undefined);
  }
  if (user === undefined) throw notFound();
  const changed = await changeMember(db, { organizationId, userId: user.id, level, callerId });
  switch (changed.kind) {
    case 'no_member':
      throw notFound();
    case 'above':
      throw permissionDenied(
        'Your level in the organization is insufficient: it takes an administrator, who is not below the member nor below the new level.',
      );
    case 'last_owner': {
      const detail = 'The last owner of an organization stays its owner.';
      throw new ApiError(400, 'validation_error', 'invalid_input', detail, 'level');
    }
    case 'changed':
      return { user, member: changed.member };
  }
}

async function findOrganization(db: Db, c: Context<ApiEnv>): Promise<Membership> {
  const id = c.req.param('organization_id')?.toLowerCase();
  const userId = c.get('user').id;
  const own = (await loadMemberships(db, [userId])).get(userId) ?? [];
  const found = id === '@current' ? own[0] : own.find(({ organizationId }) => organizationId === id);
  if (found === undefined) throw notFound('Organization not found.');
  return found;
}
