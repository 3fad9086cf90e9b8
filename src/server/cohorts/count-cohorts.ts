import type { Db, Queryable } from '../database/db.ts';
import { allOf, type Sql } from '../database/sql.ts';
import { ApiError } from '../http/errors.ts';
import { readInBlocks } from '../query/over-blocks.ts';
import { isTooSlow, limitTime } from '../query/time-limit.ts';
import { countPersons, saveCount, saveCountError, selectCount } from './member-store.ts';
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
    const count = await (db.kind === 'pglite' ? countInBlocks : countAtOnce)(db, projectId, (tx) =>
      compileForPersons(tx, projectId, filter, calculatedAt),
    );
    await saveCount(db, cohortId, count, new Date(calculatedAt).toISOString());
  } catch (error) {
    // Cohorts that grew too large together, or that two writers at once have made contain one another.
    if (!isTooSlow(error) && !(error instanceof ApiError)) throw error;
    await saveCountError(db, cohortId);
  }
}

type Compile = (tx: Queryable) => Promise<Sql>;

function countAtOnce(db: Db, projectId: number, compile: Compile): Promise<number> {
  return db.transaction(async (tx) => {
    const condition = await compile(tx);
    await limitTime(tx, COUNT_LIMIT_MS);
    return countPersons(tx, projectId, condition);
  }, 'question');
}

async function countInBlocks(db: Db, projectId: number, compile: Compile): Promise<number> {
  const condition = await compile(db);
  let sum = 0;
  await readInBlocks<{ count: number }>(db, {
    table: 'persons',
    select: (place) => selectCount(projectId, allOf([place, condition])),
    take: ([row]) => {
      sum += row?.count ?? 0;
    },
    budgetMs: COUNT_LIMIT_MS,
  });
  return sum;
}
