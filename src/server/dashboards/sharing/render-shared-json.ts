import { PRIVILEGE, RESTRICTION } from '../../auth/levels.ts';
import { isJsonObject, type JsonObject } from '../../http/json.ts';
import type { InsightData } from '../../insights/registry.ts';
import type { InsightResult } from '../../insights/results.ts';
import type { StoredInsight } from '../../insights/store.ts';
import type { TileView } from '../tiles/view-tiles.ts';
import type { SharedView } from './render-shared-page.ts';

/** To whom has but the link, every dashboard is restricted and for looking at. */
const LEVELS = {
  effective_restriction_level: RESTRICTION.invited,
  effective_privilege_level: PRIVILEGE.view,
};

/**
 * A shared dashboard for programs: names, texts and results, and nothing that the page does not show. Who
 * made it and what its insights filter by stay in the project.
 */
export function renderSharedJson({ dashboard, views, asOf }: SharedView): JsonObject {
  const { date_from: from = null, date_to: to = null } = dashboard.filters;
  return {
    dashboard: {
      id: dashboard.id,
      name: dashboard.name,
      description: dashboard.description,
      is_shared: true,
      filters: { date_from: from, date_to: to },
      ...LEVELS,
      tiles: views.map(renderTile),
    },
    as_of: asOf,
  };
}

function renderTile({ tile, insight, result }: TileView): JsonObject {
  return {
    id: tile.id,
    layouts: tile.layouts,
    color: tile.color,
    insight: insight ? renderInsight(insight, result) : null,
    text: tile.text ? { body: tile.text.body } : null,
    last_refresh: result?.kind === 'computed' ? result.computedAt : null,
    is_cached: result?.kind === 'computed' && result.isCached,
    ...(result?.kind === 'failed' ? { error: { type: result.reason, message: result.message } } : {}),
  };
}

function renderInsight(insight: StoredInsight, result: InsightResult | undefined): JsonObject {
  const data = result?.kind === 'computed' ? result.data : undefined;
  return {
    id: insight.id,
    short_id: insight.shortId,
    name: insight.name,
    derived_name: insight.derivedName,
    description: insight.description,
    filters: data ? { insight: data.insight, ...('display' in data ? { display: data.display } : {}) } : {},
    result: data ? hideFilters(data.result) : null,
    timezone: insight.timeZone,
    ...LEVELS,
  };
}

/** Series name the entity that they count, with the filters on it. */
const hideFilters = (result: InsightData['result']): unknown =>
  Array.isArray(result) ? result.map(withoutFilters) : result;

function withoutFilters(item: unknown): unknown {
  if (!isJsonObject(item) || !isJsonObject(item['action'])) return item;
  const { properties: _, ...action } = item['action'];
  return { ...item, action };
}
