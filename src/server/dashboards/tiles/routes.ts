import { z } from '@hono/zod-openapi';
import { getCaller } from '../../auth/access.ts';
import { anyField, integerField } from '../../http/fields.ts';
import { type Api, addRoute } from '../../routing/route.ts';
import { createFromTemplate } from '../create-dashboard.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import { respondWithDashboard } from '../dashboard-response.ts';
import { openForEditing, parseDashboardId } from '../open-dashboard.ts';
import { parseTemplate } from '../parse-template.ts';
import { dashboardFields, dashboardSchema } from '../schema.ts';
import { moveTile } from './write-tiles.ts';

const tag = 'Dashboards';

/**
 * Moving tiles, and dashboards made of templates that clients send. The contract gives both a dashboard's
 * fields as well; here as in the service those change nothing.
 */
export function addTileRoutes(api: Api, deps: DashboardDeps): void {
  addRoute(
    api,
    {
      method: 'patch',
      path: '/api/projects/:project_id/dashboards/:id/move_tile/',
      scopes: ['dashboard:write'],
      summary: 'Move a tile to another dashboard',
      description: 'Needs `tile` and `toDashboard`; the other fields change nothing.',
      tag,
      params: { id: 'integer' },
      preHandler: (c) => openForEditing(deps.db, getCaller(c), parseDashboardId(c, 'id')),
      body: dashboardFields.extend({
        tile: z.object({ id: integerField() }),
        toDashboard: integerField().openapi({ description: 'Id of the other dashboard.' }),
      }),
      responses: { 200: { description: 'The dashboard that the tile was on.', schema: dashboardSchema } },
    },
    async ({ c, body }) => {
      const from = parseDashboardId(c, 'id');
      await moveTile(deps, getCaller(c), { tileId: body.tile.id, from, to: body.toDashboard });
      return respondWithDashboard(deps, c, from, {});
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: '/api/projects/:project_id/dashboards/create_from_template_json/',
      scopes: ['dashboard:write'],
      summary: 'Create a dashboard from a template in the request',
      description: 'Needs `template`; the other fields change nothing.',
      tag,
      body: dashboardFields.extend({
        template: anyField().openapi({
          type: 'object',
          required: ['template_name', 'dashboard_description', 'dashboard_filters', 'tiles'],
          description:
            '`tiles`: `{type: "INSIGHT", name, description, color, filters | query, layouts}` or `{type: "TEXT", body, color, layouts}`.',
        }),
      }),
      responses: {
        200: { description: 'The dashboard, its results not computed.', schema: dashboardSchema },
      },
    },
    async ({ c, body }) => {
      const id = await createFromTemplate(deps, getCaller(c), parseTemplate(body.template));
      return respondWithDashboard(deps, c, id, {});
    },
  );
}
