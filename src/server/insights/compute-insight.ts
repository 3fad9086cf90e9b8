import type { Db, Queryable } from '../database/db.ts';
import { getSqlState } from '../database/db.ts';
import { ApiError } from '../http/errors.ts';
import { loadCohorts } from '../query/cohort-store.ts';
import { parseDateRange } from '../query/date-range.ts';
import type { FilterGroup } from '../query/filter.ts';
import { isTooSlow, limitTime } from '../query/time-limit.ts';
import { type EventScope, loadEarliest, sortInMemory } from './events-store.ts';
import { InsightError, invalid, tooLarge } from './insight-error.ts';
import { getKind, type InsightData, type InsightQuery } from './registry.ts';

export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long the database may work on it, in milliseconds. */
  readonly timeLimitMs: number;
}

/** The result of an insight, read in one transaction. Throws InsightError. */
export async function computeInsight(
  db: Db,
  projectId: number,
  query: InsightQuery,
  moment: Moment,
): Promise<InsightData> {
  try {
    return await db.transaction(async (tx) => {
      await limitTime(tx, moment.timeLimitMs);
      await sortInMemory(tx);
      return compute(tx, projectId, query, moment);
    });
  } catch (error) {
    throw toInsightError(error);
  }
}

/** out_of_memory, disk_full, and statements or values beyond a limit of Postgres. */
const TOO_LARGE = /^(?:53[12]00|54...)$/;

/** Errors that the insight itself causes become an InsightError; any other is returned as it is. */
function toInsightError(error: unknown): unknown {
  if (error instanceof ApiError && error.status === 400) return invalid(error.message);
  if (isTooSlow(error)) {
    return new InsightError('too_slow', 'This took too long: ask for fewer days, steps or values.');
  }
  const isTooLarge = TOO_LARGE.test(getSqlState(error) ?? '');
  return isTooLarge ? tooLarge('This is too much: ask for fewer days, steps or values.') : error;
}

async function compute(
  tx: Queryable,
  projectId: number,
  query: InsightQuery,
  { now, timeLimitMs }: Moment,
): Promise<InsightData> {
  const { filter, dates } = query;
  const kind = getKind(query.insight);
  const everyFilter: FilterGroup = {
    kind: 'group',
    operator: 'and',
    members: [filter, ...kind.listEntities(query).map((entity) => entity.filter)],
  };
  const cohorts = await loadCohorts(tx, projectId, everyFilter);
  const scope: EventScope = { projectId, now, filter, cohorts, timeLimitMs };
  const earliest = dates.from === 'all' ? await loadEarliest(tx, projectId) : undefined;
  const range = parseDateRange(
    {
      dateFrom: dates.from,
      dateTo: dates.to,
      explicitDate: dates.explicit,
      interval: kind.getInterval(query),
    },
    { now, earliest },
  );
  return kind.compute(tx, scope, query, range);
}
