import { loadProject, type Project } from '../auth/projects.ts';
import type { Db, Queryable } from '../database/db.ts';
import { getSqlState } from '../database/db.ts';
import { HOW_TO_MOVE } from '../database/outgrown.ts';
import { sql } from '../database/sql.ts';
import { ApiError } from '../http/errors.ts';
import { selectDeeds } from '../query/compile-filter.ts';
import { type DateRange, fitRange, parseDateRange, type RangeContext } from '../query/date-range.ts';
import { loadDefinitions } from '../query/definitions/action-store.ts';
import { requireCohorts } from '../query/definitions/cohort-store.ts';
import { behavioursIn, type FilterGroup } from '../query/filter.ts';
import type { AskedInterval } from '../query/interval.ts';
import { STEP_LIMIT_MS } from '../query/over-blocks.ts';
import { inTime, isTooSlow, limitTime } from '../query/time-limit.ts';
import { toCohortFilter } from './breakdown-store.ts';
import type { BreakdownBy, Entity } from './entity.ts';
import { type EventScope, loadEventTimes, planForMuch, requireAction } from './events-store.ts';
import { hasWorkers, inHalves } from './in-halves.ts';
import { InsightError, invalid, tooLarge, tooSlow } from './insight-error.ts';
import type { DateWords } from './insight-kind.ts';
import { AT_ONCE, type StepSizes, type Steps, startSteps } from './steps.ts';

export interface Moment {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** How long the database may work on it, in milliseconds. */
  readonly timeLimitMs: number;
  /** For tests: of the embedded database, and how many events are worth two processes of a server. */
  readonly sizes?: StepSizes & { readonly atOnceMs?: number; readonly eventsForTwo?: number };
}

/** On the embedded database, where a statement holds up all others: what is quick is done at once. */
const AT_ONCE_MS = 300;
/** There the database does other things in between, so that a long computation harms nobody. */
const STEPPED_FACTOR = 3;

/** Something to find out about the events of a project. */
export interface Question<T> {
  readonly projectId: number;
  readonly dates: DateWords;
  /** The interval that the range of dates is rounded to. */
  readonly interval: AskedInterval;
  /** Holds for every event. */
  readonly filter: FilterGroup;
  /** Every entity whose filter the answer is made with. */
  readonly entities: readonly Entity[];
  readonly breakdown?: BreakdownBy | undefined;
  /** What is read here is read in the transaction, or in the steps, of the question. */
  readonly answer: (tx: Queryable, steps: Steps, scope: EventScope, range: DateRange) => Promise<T>;
}

/** The answer to a question. On a server it is read in one transaction. Throws InsightError. */
export async function askDatabase<T>(db: Db, question: Question<T>, moment: Moment): Promise<T> {
  try {
    if (db.kind === 'postgres') return await answerAtOnce(db, question, moment);
    try {
      const timeLimitMs = Math.min(moment.sizes?.atOnceMs ?? AT_ONCE_MS, moment.timeLimitMs);
      return await answerAtOnce(db, question, { ...moment, timeLimitMs });
    } catch (error) {
      if (!isTooSlow(error)) throw error;
    }
    return await answerInSteps(db, question, moment);
  } catch (error) {
    throw toInsightError(error, db.kind);
  }
}

function answerAtOnce<T>(db: Db, question: Question<T>, moment: Moment): Promise<T> {
  return db.transaction(async (tx) => {
    await limitTime(tx, moment.timeLimitMs);
    await planForMuch(tx, db.kind);
    // A server ends the statement by its own clock.
    const guard = db.kind === 'pglite' ? inTime(moment.timeLimitMs) : sql`true`;
    const steps = (await hasWorkers(tx, db.kind, moment.sizes?.eventsForTwo)) ? inHalves() : AT_ONCE;
    return answer(tx, steps, question, { now: moment.now, guard });
  }, 'question');
}

async function answerInSteps<T>(db: Db, question: Question<T>, moment: Moment): Promise<T> {
  const { tx, steps, close } = startSteps(db, moment.timeLimitMs * STEPPED_FACTOR, moment.sizes);
  try {
    const guard = inTime(Math.min(STEP_LIMIT_MS, moment.timeLimitMs));
    return await answer(tx, steps, question, { now: moment.now, guard });
  } finally {
    await close();
  }
}

/** out_of_memory, disk_full, and statements or values beyond a limit of Postgres. */
const TOO_LARGE = /^(?:53[12]00|54...)$/;

/** Errors that the insight itself causes become an InsightError; any other is returned as it is. */
function toInsightError(error: unknown, kind: Db['kind']): unknown {
  if (error instanceof ApiError && error.status === 400) return invalid(error.message, error.envelope.attr);
  if (isTooSlow(error) || (error instanceof InsightError && error.reason === 'too_slow')) {
    return tooSlow(
      kind === 'pglite' ? `Or, where the embedded database is too small for it: ${HOW_TO_MOVE}.` : undefined,
    );
  }
  const isTooLarge = TOO_LARGE.test(getSqlState(error) ?? '');
  return isTooLarge ? tooLarge('This is too much: ask for fewer days, steps or values.') : error;
}

/** For ranges of dates. */
export const getCalendar = (
  project: Pick<Project, 'timeZone' | 'weekStartDay'> | undefined,
): Pick<RangeContext, 'timeZone' | 'weekStart'> => ({
  timeZone: project?.timeZone ?? 'UTC',
  weekStart: project?.weekStartDay === 1 ? 'monday' : 'sunday',
});

async function answer<T>(
  tx: Queryable,
  steps: Steps,
  { projectId, dates, interval, filter, entities, breakdown, answer: find }: Question<T>,
  { now, guard }: Pick<EventScope, 'now' | 'guard'>,
): Promise<T> {
  const filters = entities.map((entity) => entity.filter);
  const every: FilterGroup = {
    kind: 'group',
    operator: 'and',
    members: [filter, toCohortFilter(breakdown), ...filters],
  };
  const saved = entities.flatMap((entity) => entity.saved ?? []);
  const actionIds = saved.map(({ actionId }) => actionId);
  const definitions = await loadDefinitions(tx, projectId, every, actionIds);
  const { cohorts } = definitions;
  for (const one of saved) requireAction(definitions, one);
  requireCohorts(filter, cohorts, 'properties');
  requireCohorts(toCohortFilter(breakdown), cohorts, 'breakdown', 'breakdown');
  for (const { name, filter: own } of entities) requireCohorts(own, cohorts, `properties of "${name}"`);
  const behaviours = [every, ...[...cohorts.values()].map((cohort) => cohort.filter)].flatMap(behavioursIn);
  const doers = await steps.findDoers(behaviours, (behaviour, place) =>
    selectDeeds(behaviour, { projectId, now, ...definitions }, sql`${place} and ${guard}`),
  );
  const scope: EventScope = { projectId, now, filter, ...definitions, doers, guard, place: sql`true` };
  const project = await loadProject(tx, projectId);
  const needsTimes = dates.from === 'all' || interval === 'auto';
  const times = needsTimes ? await loadEventTimes(tx, projectId, now) : undefined;
  const range = parseDateRange(
    {
      dateFrom: dates.from,
      dateTo: dates.to,
      explicitDate: dates.explicit,
      interval: interval === 'auto' ? 'day' : interval,
    },
    { now, earliest: times?.first, ...getCalendar(project) },
  );
  return find(tx, steps, scope, interval === 'auto' ? fitRange(range, times?.last) : range);
}
