import type { Caller } from '../auth/access.ts';
import type { User } from '../auth/users.ts';
import type { Queryable } from '../database/db.ts';
import type { JsonObject } from '../http/json.ts';
import type { InsightResult, StoredInsight } from './insight-port.ts';

/** A tile, on any dashboard, that shows an insight. */
export interface InsightPlace {
  readonly insightId: number;
  /** Of the tile. */
  readonly id: number;
  readonly dashboardId: number;
  readonly deleted: boolean;
}

/** The same with what its dashboard allows whoever asks (dashboards/insight-places.ts). */
export interface GuardedPlace extends InsightPlace {
  readonly restriction: number;
  readonly privilege: number;
}

/** What dashboards tell insights of the tiles that show them (dashboards/insight-places.ts). */
export interface InsightPlaces {
  load(db: Queryable, caller: Caller, insightIds: readonly number[]): Promise<GuardedPlace[]>;
  /** Keeps what dashboards allow as it is until the transaction ends. Before the insights are locked. */
  lock(tx: Queryable, projectId: number, insightIds: readonly number[]): Promise<void>;
}

/** What an insight says beside itself. */
export interface InsightSurroundings {
  readonly users: ReadonlyMap<number, User>;
  readonly places: readonly InsightPlace[];
  /** Of the dashboard that shows it; an insight by itself goes by all that show it. */
  readonly restriction: number;
  readonly privilege: number;
}

/** An insight in the shape that clients of the service read. Without a result it tells only what it asks. */
export function renderInsightBody(
  insight: StoredInsight,
  result: InsightResult | undefined,
  { users, places, restriction, privilege }: InsightSurroundings,
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
    ...freshness(result),
    result: result?.kind === 'computed' ? result.data.result : null,
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
    timezone: 'UTC',
    filters_hash: result?.filtersHash ?? null,
    next_allowed_client_refresh: result?.kind === 'computed' ? result.nextRefreshAt : null,
  };
}

/** When the result was computed, and whether that was for somebody else. */
export const freshness = (result: InsightResult | undefined) => ({
  last_refresh: result?.kind === 'computed' ? result.computedAt : null,
  is_cached: result?.kind === 'computed' && result.isCached,
});

/** Why there is no result; nothing where there is one, or none was asked for. */
export const failure = (result: InsightResult | undefined) =>
  result?.kind === 'failed' ? { error: { type: result.reason, message: result.message } } : {};

export const getUser = (users: ReadonlyMap<number, User>, id: number | null): User | null =>
  (id === null ? undefined : users.get(id)) ?? null;
