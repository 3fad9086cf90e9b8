import type { Db } from '../database/db.ts';
import type { InsightResults } from '../insights/results.ts';

/** What the routes of dashboards and insights need. */
export interface DashboardDeps {
  readonly db: Db;
  readonly results: InsightResults;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
