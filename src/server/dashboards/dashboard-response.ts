import type { Context } from 'hono';
import type { ApiEnv } from '../auth/access.ts';
import { getCaller } from '../auth/access.ts';
import { respondWithLargeJson } from '../http/response.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { describeDashboard } from './describe-dashboard.ts';
import { openDashboard } from './open-dashboard.ts';
import { computeTiles, viewTiles } from './tiles/view-tiles.ts';

interface ResponseOptions {
  /** @default 200 */
  readonly status?: 200 | 201;
  /**
   * Computes the insights.
   * @default false, as after a change
   */
  readonly results?: boolean;
  /** Also computes results that are fresh. */
  readonly refresh?: boolean | undefined;
  readonly deletedToo?: boolean;
  /** `delete_insights` of the request. */
  readonly deleteInsights?: boolean | undefined;
}

/** Responds with one dashboard and its tiles. */
export async function respondWithDashboard(
  deps: DashboardDeps,
  c: Context<ApiEnv>,
  id: number,
  { status = 200, results = false, refresh, deletedToo = false, deleteInsights = false }: ResponseOptions,
): Promise<Response> {
  const opened = await openDashboard(deps.db, getCaller(c), id, { deletedToo });
  const found = await viewTiles(deps.db, opened.dashboard);
  const views = results ? await computeTiles(deps, opened.dashboard, found, refresh) : found;
  return respondWithLargeJson(c, await describeDashboard(deps, opened, views, deleteInsights), status);
}
