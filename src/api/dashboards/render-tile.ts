import type { InsightResult, StoredInsight } from '../insight-port.ts';
import type { JsonObject } from '../json.ts';
import type { User } from '../users.ts';
import type { Privilege, Restriction } from './permission.ts';
import type { StoredText, TilePlace } from './tile-store.ts';
import type { TileView } from './view-tiles.ts';

/** What tiles say beside themselves. */
export interface TileSurroundings {
  readonly projectId: number;
  readonly users: ReadonlyMap<number, User>;
  /** Every tile of the insights that are shown. */
  readonly places: readonly TilePlace[];
  readonly restriction: Restriction;
  readonly privilege: Privilege;
}

/** A tile in the shape that clients of the service read. A failed result adds `error`. */
export function renderTile({ tile, insight, result }: TileView, around: TileSurroundings): JsonObject {
  return {
    id: tile.id,
    layouts: tile.layouts,
    color: tile.color,
    insight: insight ? renderInsight(insight, result, around) : null,
    text: tile.text ? renderText(tile.text, around) : null,
    ...freshness(result),
    ...(result?.kind === 'failed' ? { error: { type: result.reason, message: result.message } } : {}),
  };
}

const freshness = (result: InsightResult | undefined) => ({
  last_refresh: result?.kind === 'computed' ? result.computedAt : null,
  is_cached: result?.kind === 'computed' && result.isCached,
});

const userOf = (users: TileSurroundings['users'], id: number | null): User | null =>
  (id === null ? undefined : users.get(id)) ?? null;

function renderText(text: StoredText, { users, projectId }: TileSurroundings): JsonObject {
  return {
    id: text.id,
    body: text.body,
    created_by: userOf(users, text.createdBy),
    last_modified_at: text.lastModifiedAt,
    last_modified_by: userOf(users, text.lastModifiedBy),
    team: projectId,
  };
}

function renderInsight(
  insight: StoredInsight,
  result: InsightResult | undefined,
  { users, places, restriction, privilege }: TileSurroundings,
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
    created_by: userOf(users, insight.createdBy),
    description: insight.description,
    updated_at: insight.updatedAt,
    favorited: insight.favorited,
    tags: insight.tags,
    saved: insight.saved,
    last_modified_at: insight.lastModifiedAt,
    last_modified_by: userOf(users, insight.lastModifiedBy),
    is_sample: insight.isSample,
    effective_restriction_level: restriction,
    effective_privilege_level: privilege,
    timezone: 'UTC',
    filters_hash: result?.filtersHash ?? null,
    next_allowed_client_refresh: result?.kind === 'computed' ? result.nextRefreshAt : null,
  };
}
