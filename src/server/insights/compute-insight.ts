import type { Db, Queryable } from '../database/db.ts';
import { getSqlState } from '../database/db.ts';
import { ApiError } from '../http/errors.ts';
import { loadCohorts } from '../query/cohort-store.ts';
import { type DateRange, parseDateRange } from '../query/date-range.ts';
import type { FilterGroup } from '../query/filter.ts';
import type { Interval } from '../query/interval.ts';
import { isTooSlow, limitTime } from '../query/time-limit.ts';
import { type EventScope, loadEarliest, sortInMemory } from './events-store.ts';
import { computeFunnel } from './funnel/funnel.ts';
import { InsightError, invalid, tooLarge } from './insight-error.ts';
import type { Entity, InsightQuery } from './insight-query.ts';
import type { InsightData } from './insight-results.ts';
import { wholeRange } from './intervals.ts';
import { computeLifecycle } from './lifecycle/lifecycle.ts';
import { loadPaths } from './paths/store.ts';
import { computeRetention } from './retention/retention.ts';
import { computeStickiness } from './stickiness/stickiness.ts';
import { computeTrends } from './trends/trends.ts';

export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long the database may work on it, in milliseconds. */
  readonly timeLimitMs: number;
}

/** What an insight gives, read in one transaction. Throws InsightError. */
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
    throw meaningOf(error);
  }
}

/** out_of_memory, disk_full, and statements or values beyond a limit of Postgres. */
const TOO_LARGE = /^(?:53[12]00|54...)$/;

/** What an error says about the insight; itself when that is nothing. */
function meaningOf(error: unknown): unknown {
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
  const cohorts = await loadCohorts(tx, projectId, everyFilter(query));
  const scope: EventScope = { projectId, now, filter, cohorts, timeLimitMs };
  const earliest = dates.from === 'all' ? await loadEarliest(tx, projectId) : undefined;
  const range = (interval: Interval): DateRange =>
    parseDateRange(
      { dateFrom: dates.from, dateTo: dates.to, explicitDate: dates.explicit, interval },
      { now, earliest },
    );
  switch (query.insight) {
    case 'TRENDS':
      return computeTrends(tx, scope, query, range(query.interval));
    case 'FUNNELS':
      return computeFunnel(tx, scope, query, range('day'));
    case 'RETENTION':
      return computeRetention(tx, scope, query, range(query.period));
    case 'LIFECYCLE':
      return computeLifecycle(tx, scope, query, range(query.interval));
    case 'STICKINESS':
      return computeStickiness(tx, scope, query, range(query.interval));
    case 'PATHS':
      return { insight: 'PATHS', result: await loadPaths(tx, scope, wholeRange(range('day')), query) };
  }
}

const everyFilter = (query: InsightQuery): FilterGroup => ({
  kind: 'group',
  operator: 'and',
  members: [query.filter, ...entitiesOf(query).map((entity) => entity.filter)],
});

function entitiesOf(query: InsightQuery): readonly Entity[] {
  switch (query.insight) {
    case 'TRENDS':
    case 'STICKINESS':
      return query.series;
    case 'FUNNELS':
      return [...query.steps, ...query.exclusions];
    case 'RETENTION':
      return [query.target, query.returning];
    case 'LIFECYCLE':
      return [query.entity];
    case 'PATHS':
      return [];
  }
}
