import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ApiEnv } from '../auth/access.ts';
import { getCaller } from '../auth/access.ts';
import { booleanField } from '../http/fields.ts';
import { isJsonObject } from '../http/json.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { readRequestBody } from '../http/request-body.ts';
import { respondWithJson } from '../http/response.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { changeDashboard } from './change-dashboard.ts';
import { addCollaboratorRoutes } from './collaborators/routes.ts';
import { createDashboard } from './create-dashboard.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { respondWithDashboard } from './dashboard-response.ts';
import { describeListed } from './describe-dashboard.ts';
import { addInsightRoutes } from './insights/routes.ts';
import { openForEditing, parseDashboardId } from './open-dashboard.ts';
import { changeBody, createBody, dashboardSchema, listedDashboardSchema } from './schema.ts';
import { addSharingRoutes } from './sharing/routes.ts';
import { addSharedRoutes } from './sharing/shared-routes.ts';
import { loadDashboards } from './store.ts';
import { addTileRoutes } from './tiles/routes.ts';

const tag = 'Dashboards';
const LIST = '/api/projects/:project_id/dashboards/';
const ONE = '/api/projects/:project_id/dashboards/:id/';
const params = { id: 'integer' } as const;
const MAX_PAGE = 1000;

/** Dashboards, their collaborators, sharing configurations and public pages. */
export function addDashboardRoutes(api: Api, deps: DashboardDeps): void {
  const { db } = deps;
  addRoute(
    api,
    {
      method: 'get',
      path: LIST,
      scopes: ['dashboard:read'],
      summary: 'List dashboards, by name',
      tag,
      query: pageQuery,
      responses: { 200: { description: 'One page of dashboards.', schema: paged(listedDashboardSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_PAGE);
      const caller = getCaller(c);
      const { count, dashboards } = await loadDashboards(db, caller.projectId, page);
      const results = await describeListed(db, caller, dashboards);
      return respondWithJson(c, renderPage(getPublicUrl(c), page, count, results, { bareFirst: true }));
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: LIST,
      scopes: ['dashboard:write'],
      summary: 'Create a dashboard',
      description: 'Empty, from a template (`use_template`) or from another dashboard (`use_dashboard`).',
      tag,
      body: createBody,
      responses: {
        201: { description: 'The dashboard, its results not computed.', schema: dashboardSchema },
      },
    },
    async ({ c, body }) => {
      const id = await createDashboard(deps, getCaller(c), body);
      return respondWithDashboard(deps, c, id, {
        status: 201,
        deletedToo: true,
        deleteInsights: body.delete_insights,
      });
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: ONE,
      scopes: ['dashboard:read'],
      summary: 'Retrieve a dashboard with the results of its insights',
      tag,
      params,
      query: z.object({
        refresh: z.string().optional().openapi({
          description: '`true` also recomputes results that are still fresh.',
        }),
      }),
      responses: { 200: { description: 'The dashboard.', schema: dashboardSchema } },
    },
    ({ c, query }) =>
      respondWithDashboard(deps, c, parseDashboardId(c, 'id'), {
        results: true,
        refresh: isTrue(query.refresh),
      }),
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: ONE,
      scopes: ['dashboard:write'],
      summary: 'Change a dashboard, delete it or bring it back',
      description:
        '`deleted: true` deletes it, and with `delete_insights` the insights that stand on no other dashboard. `{"deleted": false}` alone brings a deleted one back.',
      tag,
      params,
      preHandler: async (c) =>
        openForEditing(db, getCaller(c), parseDashboardId(c, 'id'), { deletedToo: await isRestoring(c) }),
      body: changeBody,
      responses: {
        200: { description: 'The dashboard, its results not computed.', schema: dashboardSchema },
      },
    },
    async ({ c, body }) => {
      const id = parseDashboardId(c, 'id');
      await changeDashboard(deps, getCaller(c), id, body, await isRestoring(c));
      return respondWithDashboard(deps, c, id, { deletedToo: true, deleteInsights: body.delete_insights });
    },
  );
  addRoute(
    api,
    {
      method: 'delete',
      path: ONE,
      scopes: ['dashboard:write'],
      summary: 'Refused: a dashboard is deleted by a PATCH of `deleted`',
      tag,
      params,
      responses: { 405: { description: 'Always, and without a body.' } },
    },
    ({ c }) => c.body(null, 405, { Allow: 'GET, PATCH' }),
  );
  addTileRoutes(api, deps);
  addInsightRoutes(api, deps);
  addCollaboratorRoutes(api, db);
  addSharingRoutes(api, db);
  addSharedRoutes(api, deps);
}

const isTrue = (value: unknown): boolean => booleanField().safeParse(value).data === true;

/** Whether the body is `deleted: false` and nothing else: only this reaches a deleted dashboard. */
async function isRestoring(c: Context<ApiEnv>): Promise<boolean> {
  const body = await readRequestBody(c);
  if (!isJsonObject(body)) return false;
  const keys = Object.keys(body).filter((key) => key !== 'personal_api_key');
  return keys.length === 1 && booleanField().safeParse(body['deleted']).data === false;
}
