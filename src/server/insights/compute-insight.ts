import type { Db } from '../database/db.ts';
import { askDatabase, type Moment } from './ask-database.ts';
import { getKind, type InsightData, type InsightQuery } from './registry.ts';

/** The result of an insight. Throws InsightError. */
export function computeInsight(
  db: Db,
  projectId: number,
  query: InsightQuery,
  moment: Moment,
): Promise<InsightData> {
  const kind = getKind(query.insight);
  return askDatabase<InsightData>(
    db,
    {
      projectId,
      dates: query.dates,
      interval: kind.getInterval(query),
      filter: query.filter,
      entities: kind.listEntities(query),
      breakdown: kind.getBreakdown?.(query),
      answer: (tx, steps, scope, range) => kind.compute(tx, steps, scope, query, range),
    },
    moment,
  );
}
