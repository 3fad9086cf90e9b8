import type { Db } from '../database/db.ts';
import { allOf } from '../database/sql.ts';
import { ApiError } from '../http/errors.ts';
import { inTime, isTooSlow, limitTime } from '../query/time-limit.ts';
import { countPersons, saveCount, saveCountError } from './member-store.ts';
import { compileForPersons } from './person-condition.ts';
import type { StoredCohort } from './store.ts';

/** For how long a count is reused. */
const COUNT_KEPT_MS = 15_000;
/** How long one count may take, and for how long a list may start new ones. */
const COUNT_LIMIT_MS = 5000;
const LIST_LIMIT_MS = 2000;

export interface CountDeps {
  readonly db: Db;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Counts the members of cohorts whose count is old, as many as there is time for. */
export async function refreshCounts(
  deps: CountDeps,
  projectId: number,
  cohorts: readonly StoredCohort[],
): Promise<void> {
  const began = performance.now();
  for (const cohort of cohorts) {
    if (performance.now() - began > LIST_LIMIT_MS) return;
    const age = deps.now() - Date.parse(cohort.lastCalculation ?? '1970-01-01');
    if (Math.abs(age) > COUNT_KEPT_MS) await countMembers(deps, projectId, cohort.id);
  }
}

/** Counts the members of one cohort; one that takes too long keeps its old count and increments its errors. */
export async function countMembers(
  { db, now }: CountDeps,
  projectId: number,
  cohortId: number,
): Promise<void> {
  const calculatedAt = now();
  const filter = { kind: 'cohort', cohortId, negated: false } as const;
  try {
    await db.transaction(async (tx) => {
      const condition = await compileForPersons(tx, projectId, filter, calculatedAt);
      await limitTime(tx, COUNT_LIMIT_MS);
      const count = await countPersons(tx, projectId, allOf([inTime(COUNT_LIMIT_MS), condition]));
      await saveCount(tx, cohortId, count, new Date(calculatedAt).toISOString());
    });
  } catch (error) {
    // Cohorts that grew too large together, or that two writers at once have made contain one another.
    if (!isTooSlow(error) && !(error instanceof ApiError)) throw error;
    await saveCountError(db, cohortId);
  }
}
