import { type Caller, getCaller } from '../../auth/access.ts';
import { loadUsers } from '../../auth/users.ts';
import { notFound } from '../../http/errors.ts';
import type { JsonObject } from '../../http/json.ts';
import { paged, parsePage, renderPage } from '../../http/paging.ts';
import { respondWithJson, respondWithLargeJson } from '../../http/response.ts';
import { parseRowId } from '../../http/row-id.ts';
import { normaliseTags } from '../../http/tags.ts';
import type { InsightResult } from '../../insights/results.ts';
import type { StoredInsight } from '../../insights/store.ts';
import { loadInsightPage, loadInsights, saveInsight } from '../../insights/store.ts';
import { getPublicUrl } from '../../routing/public-url.ts';
import { type Api, addRoute } from '../../routing/route.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import { renderFailure, renderInsightBody } from './body.ts';
import { changeInsight, checkInsight } from './change-insight.ts';
import { computeLevels } from './levels.ts';
import { loadInsightPlaces } from './places.ts';
import { changedInsightSchema, computedQuery, insightSchema, listQuery, newInsightSchema } from './schema.ts';

/**
 * Insights by themselves, beyond the contract. They are part of this room because the dashboards that show
 * an insight decide who may change it.
 */
const tag = 'Insights (beyond the contract)';
const base = '/api/projects/:project_id/insights/';
const params = { id: 'integer' } as const;

export function addInsightRoutes(api: Api, deps: DashboardDeps): void {
  const { db, results } = deps;

  addRoute(
    api,
    {
      method: 'get',
      path: base,
      scopes: ['insight:read'],
      summary: 'List insights',
      description: 'Newest first, without deleted ones. Results are not computed.',
      tag,
      query: listQuery,
      responses: { 200: { description: 'Insights.', schema: paged(insightSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_PAGE);
      const filter = { shortId: query.short_id, saved: query.saved, search: query.search };
      const { count, insights: found } = await loadInsightPage(db, c.get('project').id, filter, page);
      const bodies = await render(deps, getCaller(c), found);
      return respondWithJson(c, renderPage(getPublicUrl(c), page, count, bodies));
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: base,
      scopes: ['insight:write'],
      summary: 'Make an insight',
      description: 'Put it on a dashboard by a PATCH of that: `{"tiles": [{"insight": {"id": …}}]}`.',
      tag,
      body: newInsightSchema,
      responses: { 201: { description: 'The insight, without a result.', schema: insightSchema } },
    },
    async ({ c, body }) => {
      await checkInsight(db, c.get('project').id, body);
      const insight = await saveInsight(db, c.get('project').id, c.get('user').id, {
        name: body.name ?? null,
        derivedName: body.derived_name ?? null,
        description: body.description ?? null,
        filters: body.filters ?? {},
        query: body.query ?? null,
        tags: normaliseTags(body.tags ?? []),
        saved: body.saved ?? false,
      });
      return respondWithJson(c, (await render(deps, getCaller(c), [insight]))[0], 201);
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: `${base}:id/`,
      scopes: ['insight:read'],
      params,
      summary: 'Retrieve an insight with its result',
      tag,
      query: computedQuery,
      responses: { 200: { description: 'The insight.', schema: insightSchema } },
    },
    async ({ c, query }) => {
      const projectId = c.get('project').id;
      const [insight] = await loadInsights(db, projectId, [parseId(c.req.param('id'))]);
      if (insight === undefined || insight.deleted) throw notFound();
      const result = await results.compute(db, projectId, insight, { refresh: query.refresh ?? false });
      return respondWithLargeJson(c, (await render(deps, getCaller(c), [insight], result))[0]);
    },
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: `${base}:id/`,
      scopes: ['insight:write'],
      params,
      summary: 'Change, delete (`deleted: true`) or bring back an insight',
      tag,
      body: changedInsightSchema,
      responses: { 200: { description: 'The insight, without a result.', schema: insightSchema } },
    },
    async ({ c, body }) => {
      const [caller, id] = [getCaller(c), parseId(c.req.param('id'))];
      const insight = await db.transaction((tx) => changeInsight(tx, caller, id, body));
      return respondWithJson(c, (await render(deps, caller, [insight]))[0]);
    },
  );
}

/** Filters of a hundred thousand characters each add up. */
const MAX_PAGE = 500;

async function render(
  { db }: DashboardDeps,
  caller: Caller,
  found: readonly StoredInsight[],
  result?: InsightResult,
): Promise<JsonObject[]> {
  const places = await loadInsightPlaces(
    db,
    caller,
    found.map(({ id }) => id),
  );
  const userIds = found.flatMap(({ createdBy, lastModifiedBy }) => [createdBy, lastModifiedBy]);
  const users = await loadUsers(
    db,
    userIds.filter((id) => id !== null),
  );
  return found.map((insight) => ({
    ...renderInsightBody(insight, result, { users, places, ...computeLevels(insight.id, places) }),
    ...renderFailure(result),
  }));
}

function parseId(text: string | undefined): number {
  const id = parseRowId(text);
  if (id === undefined) throw notFound();
  return id;
}
