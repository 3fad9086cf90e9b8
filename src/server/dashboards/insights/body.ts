import type { User } from '../../auth/users.ts';
import type { JsonObject } from '../../http/json.ts';
import type { InsightResult } from '../../insights/results.ts';
import { describeSampling } from '../../insights/sampling.ts';
import type { StoredInsight } from '../../insights/store.ts';
import type { TilePlace } from '../tiles/store.ts';

/** What the body of an insight contains beside the insight itself. */
export interface InsightContext {
  readonly users: ReadonlyMap<number, User>;
  /** Every tile that shows it, or other insights. */
  readonly places: readonly TilePlace[];
  /** Of the dashboard that shows it; of an insight by itself, of all that show it. */
  readonly restriction: number;
  readonly privilege: number;
}

/** An insight in the shape that clients of the service read. Without a result, `result` is null. */
export function renderInsightBody(
  insight: StoredInsight,
  result: InsightResult | undefined,
  { users, places, restriction, privilege }: InsightContext,
): JsonObject {
  const here = places.filter(({ insightId }) => insightId === insight.id);
  return {
    id: insight.id,
    short_id: insight.shortId,
    name: insight.name,
    derived_name: insight.derivedName,
    filters: insight.filters,
    query: insight.query,
    dashboards: here.filter(({ deleted }) => !deleted).map(({ dashboardId }) => dashboardId),
    dashboard_tiles: here.map(({ id, dashboardId, deleted }) => ({ id, dashboard_id: dashboardId, deleted })),
    order: null,
    deleted: insight.deleted,
    ...renderFreshness(result),
    result: result?.kind === 'computed' ? result.data.result : null,
    ...(result?.kind === 'computed' ? describeSampling(result.samplingFactor) : {}),
    created_at: insight.createdAt,
    created_by: getUser(users, insight.createdBy),
    description: insight.description,
    updated_at: insight.updatedAt,
    favorited: insight.favorited,
    tags: insight.tags,
    saved: insight.saved,
    last_modified_at: insight.lastModifiedAt,
    last_modified_by: getUser(users, insight.lastModifiedBy),
    is_sample: insight.isSample,
    effective_restriction_level: restriction,
    effective_privilege_level: privilege,
    timezone: insight.timeZone,
    filters_hash: result?.filtersHash ?? null,
    next_allowed_client_refresh: result?.kind === 'computed' ? result.nextRefreshAt : null,
  };
}

/** When the result was computed, and whether that was for somebody else. */
export const renderFreshness = (result: InsightResult | undefined) => ({
  last_refresh: result?.kind === 'computed' ? result.computedAt : null,
  is_cached: result?.kind === 'computed' && result.isCached,
});

/** Why the result could not be computed; empty otherwise. */
export const renderFailure = (result: InsightResult | undefined) =>
  result?.kind === 'failed' ? { error: { type: result.reason, message: result.message } } : {};

export const getUser = (users: ReadonlyMap<number, User>, id: number | null): User | null =>
  (id === null ? undefined : users.get(id)) ?? null;
