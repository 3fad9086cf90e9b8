import type { Context } from 'hono';
import type { ApiEnv } from '../auth/access.ts';
import { getCaller } from '../auth/access.ts';
import { respondWithLargeJson } from '../http/response.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { describeDashboard } from './describe-dashboard.ts';
import { openDashboard } from './open-dashboard.ts';
import { computeTiles, viewTiles } from './tiles/view-tiles.ts';

interface AnswerOptions {
  /** Left out: 200. */
  readonly status?: 200 | 201;
  /** Computes the insights. Left out: only what they ask is told, as after a change. */
  readonly results?: boolean;
  /** Computes what is fresh, too. */
  readonly refresh?: boolean | undefined;
  readonly deletedToo?: boolean;
  /** What the request said of `delete_insights`. */
  readonly deleteInsights?: boolean | undefined;
}

/** Answers with one dashboard in its single form. */
export async function respondWithDashboard(
  deps: DashboardDeps,
  c: Context<ApiEnv>,
  id: number,
  { status = 200, results = false, refresh, deletedToo = false, deleteInsights = false }: AnswerOptions,
): Promise<Response> {
  const opened = await openDashboard(deps.db, getCaller(c), id, { deletedToo });
  const found = await viewTiles(deps.db, opened.dashboard);
  const views = results ? await computeTiles(deps, opened.dashboard, found, refresh) : found;
  return respondWithLargeJson(c, await describeDashboard(deps, opened, views, deleteInsights), status);
}
