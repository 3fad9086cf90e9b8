import type { Db, Queryable } from '../database/db.ts';
import type { Sql } from '../database/sql.ts';
import { ApiError } from '../http/errors.ts';
import { actionIdsIn } from '../query/definitions/action-definition.ts';
import { loadActions } from '../query/definitions/action-store.ts';
import { readDefinition } from '../query/definitions/cohort-definition.ts';
import { isTooSlow, limitTime } from '../query/time-limit.ts';
import { MAX_COHORTS_OF_PROJECT } from './change-cohort.ts';
import { holdsFor } from './member-store.ts';
import { compileWith } from './person-condition.ts';
import { loadCohortPage, type StoredCohort } from './store.ts';

const LIMIT_MS = 10_000;

/** The cohorts that a person is in, static and dynamic ones, newest first. */
export async function loadPersonCohorts(
  db: Db,
  projectId: number,
  personId: number,
  now: number,
): Promise<StoredCohort[]> {
  const began = performance.now();
  const cohorts = await loadCohortPage(db, projectId, { limit: MAX_COHORTS_OF_PROJECT, offset: 0 });
  const read = new Map(cohorts.map((cohort) => [cohort.id, readDefinition(cohort)]));
  const actionIds = [...read.values()].flatMap(({ filter }) => actionIdsIn(filter));
  const definitions = { cohorts: read, actions: await loadActions(db, projectId, actionIds) };
  const isIn = async (tx: Queryable, { id }: StoredCohort): Promise<boolean> => {
    if (performance.now() - began > LIMIT_MS) throw tooSlow();
    const filter = { kind: 'cohort', cohortId: id, negated: false } as const;
    const condition = compileOrSkip(() => compileWith(projectId, filter, now, definitions));
    return condition !== undefined && (await holdsFor(tx, projectId, personId, condition));
  };
  try {
    return await db.transaction(async (tx) => {
      await limitTime(tx, LIMIT_MS);
      const own: StoredCohort[] = [];
      for (const cohort of cohorts) if (await isIn(tx, cohort)) own.push(cohort);
      return own;
    });
  } catch (error) {
    throw isTooSlow(error) ? tooSlow() : error;
  }
}

const tooSlow = () =>
  new ApiError(503, 'server_error', 'server_error', 'There are too many cohorts to look into in time.');

/** Nobody is in a cohort that contains itself, as two writers at once may have made it. */
function compileOrSkip(compile: () => Sql): Sql | undefined {
  try {
    return compile();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
