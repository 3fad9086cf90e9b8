import type { Db } from '../database/db.ts';
import type { Insights } from '../insights/insight-port.ts';

/** What this room works with. */
export interface DashboardDeps {
  readonly db: Db;
  readonly insights: Insights;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
