import { z } from '@hono/zod-openapi';
import { getCaller } from '../../auth/access.ts';
import { PRIVILEGE } from '../../auth/levels.ts';
import { loadUsers, type User, userSchema } from '../../auth/users.ts';
import type { Db } from '../../database/db.ts';
import { respondWithJson } from '../../http/response.ts';
import { type Api, addRoute } from '../../routing/route.ts';
import { levelField } from '../fields.ts';
import { openDashboard, openForEditing, parseDashboardId } from '../open-dashboard.ts';
import { addCollaborator, MISSING, removeCollaborator } from './collaborators.ts';
import { loadCollaborators, type StoredCollaborator } from './store.ts';

const tag = 'Dashboard collaborators';
const LIST = '/api/projects/:project_id/dashboards/:dashboard_id/collaborators/';
const params = { dashboard_id: 'integer' } as const;

const collaboratorSchema = z
  .object({
    id: z.uuid(),
    dashboard_id: z.int(),
    user: userSchema,
    level: z.int(),
    added_at: z.string(),
    updated_at: z.string(),
    user_uuid: z.uuid(),
  })
  .openapi('DashboardCollaborator');

const newCollaborator = z.object({
  level: levelField('37: may edit, the only level to be given.').refine(
    (level) => level === PRIVILEGE.edit,
    'Only edit access can be explicitly specified currently.',
  ),
  user_uuid: z.uuid(),
});

export function addCollaboratorRoutes(api: Api, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: LIST,
      scopes: ['dashboard:read'],
      summary: 'List the collaborators of a dashboard',
      tag,
      params,
      responses: { 200: { description: 'All of them.', schema: z.array(collaboratorSchema) } },
    },
    async ({ c }) => {
      const id = parseDashboardId(c, 'dashboard_id', MISSING);
      await openDashboard(db, getCaller(c), id, { missing: MISSING });
      const collaborators = await loadCollaborators(db, id);
      const users = await loadUsers(
        db,
        collaborators.map(({ userId }) => userId),
      );
      return respondWithJson(
        c,
        collaborators.flatMap((one) => {
          const user = users.get(one.userId);
          return user ? [renderCollaborator(one, user)] : [];
        }),
      );
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: LIST,
      scopes: ['dashboard:write'],
      summary: 'Invite a user to edit a dashboard',
      tag,
      params,
      preHandler: (c) =>
        openForEditing(db, getCaller(c), parseDashboardId(c, 'dashboard_id', MISSING), { missing: MISSING }),
      body: newCollaborator,
      responses: { 201: { description: 'The collaborator.', schema: collaboratorSchema } },
    },
    async ({ c, body }) => {
      const id = parseDashboardId(c, 'dashboard_id', MISSING);
      const { organizationId } = c.get('project');
      const { collaborator, user } = await addCollaborator(db, getCaller(c), id, {
        organizationId,
        userUuid: body.user_uuid.toLowerCase(),
      });
      return respondWithJson(c, renderCollaborator(collaborator, user), 201);
    },
  );
  addRoute(
    api,
    {
      method: 'delete',
      path: `${LIST}:user__uuid/`,
      scopes: ['dashboard:write'],
      summary: 'Take an invitation back',
      tag,
      params: { ...params, user__uuid: 'uuid' },
      responses: { 204: { description: 'It is gone.' } },
    },
    async ({ c }) => {
      const id = parseDashboardId(c, 'dashboard_id', MISSING);
      await removeCollaborator(db, getCaller(c), id, c.req.param('user__uuid') ?? '');
      return c.body(null, 204);
    },
  );
}

function renderCollaborator(one: StoredCollaborator, user: User): z.infer<typeof collaboratorSchema> {
  return {
    id: one.id,
    dashboard_id: one.dashboardId,
    user,
    level: one.level,
    added_at: one.addedAt,
    updated_at: one.updatedAt,
    user_uuid: user.uuid,
  };
}
