import { z } from '@hono/zod-openapi';
import { getCaller } from '../../auth/access.ts';
import type { Db } from '../../database/db.ts';
import { booleanField } from '../../http/fields.ts';
import { respondWithJson } from '../../http/response.ts';
import { type Api, addRoute } from '../../routing/route.ts';
import { recordChange } from '../activity.ts';
import { MISSING } from '../collaborators/collaborators.ts';
import { lockForEditing, openDashboard, openForEditing, parseDashboardId } from '../open-dashboard.ts';
import { createAccessToken, loadSharing, type Sharing, saveSharing } from './store.ts';

const tag = 'Dashboard sharing';
const PATH = '/api/projects/:project_id/dashboards/:dashboard_id/sharing/';
const params = { dashboard_id: 'integer' } as const;

const sharingSchema = z
  .object({
    created_at: z.string().nullable(),
    enabled: z.boolean(),
    access_token: z.string().openapi({ description: 'The public page is at `/shared/<access_token>`.' }),
  })
  .openapi('DashboardSharing');

const renderSharing = ({ createdAt, enabled, accessToken }: Sharing): z.infer<typeof sharingSchema> => ({
  created_at: createdAt,
  enabled,
  access_token: accessToken,
});

export function addSharingRoutes(api: Api, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: PATH,
      scopes: ['sharing_configuration:read'],
      summary: 'Whether a dashboard has a public page',
      description:
        'Until it was turned on or off for the first time, the token is a new one each time and opens nothing.',
      tag,
      params,
      responses: { 200: { description: 'The sharing configuration.', schema: sharingSchema } },
    },
    async ({ c }) => {
      const id = parseDashboardId(c, 'dashboard_id', MISSING);
      await openDashboard(db, getCaller(c), id, { missing: MISSING });
      const stored = await loadSharing(db, id);
      return respondWithJson(
        c,
        renderSharing(stored ?? { createdAt: null, enabled: false, accessToken: createAccessToken() }),
      );
    },
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: PATH,
      scopes: ['sharing_configuration:write'],
      summary: 'Turn the public page of a dashboard on or off',
      description: 'Beyond the contract. The token stays the same once it is stored.',
      tag,
      params,
      preHandler: (c) =>
        openForEditing(db, getCaller(c), parseDashboardId(c, 'dashboard_id', MISSING), { missing: MISSING }),
      body: z.object({ enabled: booleanField().optional() }),
      responses: { 200: { description: 'The sharing configuration.', schema: sharingSchema } },
    },
    async ({ c, body }) => {
      const id = parseDashboardId(c, 'dashboard_id', MISSING);
      const sharing = await db.transaction(async (tx) => {
        const caller = getCaller(c);
        const dashboard = await lockForEditing(tx, caller, id, { missing: MISSING });
        const enabled = body.enabled ?? dashboard.isShared;
        if (enabled !== dashboard.isShared) {
          await recordChange(tx, caller, dashboard, `sharing ${enabled ? 'enabled' : 'disabled'}`, null);
        }
        return saveSharing(tx, id, enabled);
      });
      return respondWithJson(c, renderSharing(sharing));
    },
  );
}
