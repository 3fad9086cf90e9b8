import type { Queryable } from '../../database/db.ts';
import { createWorkBudget, type InsightResult } from '../../insights/results.ts';
import type { StoredInsight } from '../../insights/store.ts';
import { loadInsights } from '../../insights/store.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { StoredDashboard } from '../store.ts';
import { loadTiles, type StoredTile } from './store.ts';

/** A tile with what it shows: a text, or an insight. */
export interface TileView {
  readonly tile: StoredTile;
  readonly insight: StoredInsight | undefined;
  /** Undefined: not computed, or a text. */
  readonly result: InsightResult | undefined;
}

/** The tiles that are not deleted and whose insight is not, without results. */
export async function viewTiles(db: Queryable, dashboard: StoredDashboard): Promise<TileView[]> {
  const tiles = (await loadTiles(db, dashboard.id)).filter(({ deleted }) => !deleted);
  const ids = tiles.flatMap(({ insightId }) => (insightId === null ? [] : [insightId]));
  const found = ids.length === 0 ? [] : await loadInsights(db, dashboard.projectId, ids);
  const shown = new Map(found.filter(({ deleted }) => !deleted).map((insight) => [insight.id, insight]));
  return tiles
    .map((tile) => ({ tile, insight: shown.get(tile.insightId ?? 0), result: undefined }))
    .filter(({ tile, insight }) => tile.text !== null || insight !== undefined);
}

/** The same with the results of the insights, over the dashboard's dates and filters. */
export async function computeTiles(
  { db, results }: Pick<DashboardDeps, 'db' | 'results'>,
  { projectId, filters: dashboardFilters }: StoredDashboard,
  views: readonly TileView[],
  refresh = false,
): Promise<TileView[]> {
  const budget = createWorkBudget();
  return Promise.all(
    views.map(async (view) => {
      if (view.insight === undefined) return view;
      const options = { dashboardFilters, refresh, budget };
      return { ...view, result: await results.compute(db, projectId, view.insight, options) };
    }),
  );
}
