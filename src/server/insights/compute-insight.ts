import type { Db, Queryable } from '../database/db.ts';
import { getSqlState } from '../database/db.ts';
import { sql } from '../database/sql.ts';
import { ApiError } from '../http/errors.ts';
import { loadCohorts } from '../query/cohort-store.ts';
import { fitRange, parseDateRange } from '../query/date-range.ts';
import type { FilterGroup } from '../query/filter.ts';
import { STEP_LIMIT_MS } from '../query/over-blocks.ts';
import { isTooSlow, limitTime } from '../query/time-limit.ts';
import { type EventScope, loadEventTimes, sortInMemory } from './events-store.ts';
import { invalid, tooLarge, tooSlow } from './insight-error.ts';
import { getKind, type InsightData, type InsightQuery } from './registry.ts';
import { AT_ONCE, type StepSizes, type Steps, startSteps } from './steps.ts';

export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long the database may work on it, in milliseconds. */
  readonly timeLimitMs: number;
  /** On the embedded database. For tests. */
  readonly sizes?: StepSizes & { readonly atOnceMs?: number };
}

/** On the embedded database, where a statement holds up all others: what is quick is done at once. */
const AT_ONCE_MS = 300;
/** There the database does other things in between, so that a long computation harms nobody. */
const STEPPED_FACTOR = 3;

/** The result of an insight. On a server it is read in one transaction. Throws InsightError. */
export async function computeInsight(
  db: Db,
  projectId: number,
  query: InsightQuery,
  moment: Moment,
): Promise<InsightData> {
  try {
    if (db.kind === 'postgres') return await computeAtOnce(db, projectId, query, moment);
    try {
      const timeLimitMs = Math.min(moment.sizes?.atOnceMs ?? AT_ONCE_MS, moment.timeLimitMs);
      return await computeAtOnce(db, projectId, query, { ...moment, timeLimitMs });
    } catch (error) {
      if (!isTooSlow(error)) throw error;
    }
    return await computeInSteps(db, projectId, query, moment);
  } catch (error) {
    throw toInsightError(error);
  }
}

function computeAtOnce(db: Db, projectId: number, query: InsightQuery, moment: Moment): Promise<InsightData> {
  return db.transaction(async (tx) => {
    await limitTime(tx, moment.timeLimitMs);
    await sortInMemory(tx);
    return compute(tx, AT_ONCE, projectId, query, moment);
  }, 'question');
}

async function computeInSteps(
  db: Db,
  projectId: number,
  query: InsightQuery,
  moment: Moment,
): Promise<InsightData> {
  const { tx, steps, close } = startSteps(db, moment.timeLimitMs * STEPPED_FACTOR, moment.sizes);
  try {
    const timeLimitMs = Math.min(STEP_LIMIT_MS, moment.timeLimitMs);
    return await compute(tx, steps, projectId, query, { ...moment, timeLimitMs });
  } finally {
    await close();
  }
}

/** out_of_memory, disk_full, and statements or values beyond a limit of Postgres. */
const TOO_LARGE = /^(?:53[12]00|54...)$/;

/** Errors that the insight itself causes become an InsightError; any other is returned as it is. */
function toInsightError(error: unknown): unknown {
  if (error instanceof ApiError && error.status === 400) return invalid(error.message);
  if (isTooSlow(error)) return tooSlow();
  const isTooLarge = TOO_LARGE.test(getSqlState(error) ?? '');
  return isTooLarge ? tooLarge('This is too much: ask for fewer days, steps or values.') : error;
}

async function compute(
  tx: Queryable,
  steps: Steps,
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
  const scope: EventScope = { projectId, now, filter, cohorts, timeLimitMs, place: sql`true` };
  const asked = kind.getInterval(query);
  const needsTimes = dates.from === 'all' || asked === 'auto';
  const times = needsTimes ? await loadEventTimes(tx, projectId, now) : undefined;
  const range = parseDateRange(
    {
      dateFrom: dates.from,
      dateTo: dates.to,
      explicitDate: dates.explicit,
      interval: asked === 'auto' ? 'day' : asked,
    },
    { now, earliest: times?.first },
  );
  const fitted = asked === 'auto' ? fitRange(range, times?.last) : range;
  return kind.compute(tx, steps, scope, query, fitted);
}
