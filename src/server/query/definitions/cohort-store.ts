import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { ApiError, invalidInput } from '../../http/errors.ts';
import type { Filter } from '../filter.ts';
import { WHERE_COHORTS_ARE } from '../item-fields.ts';
import {
  type CohortDefinition,
  type CohortDefinitions,
  cohortIdsIn,
  readDefinition,
  type StoredDefinition,
} from './cohort-definition.ts';

/** What one filter may reach, cohorts of cohorts included. */
export const MAX_COHORTS = 100;

/** Every cohort that a filter reaches, for `compileFilter`. Deleted and unknown ones are missing. */
export async function loadCohorts(
  db: Queryable,
  projectId: number,
  filter: Filter,
): Promise<CohortDefinitions> {
  const found = new Map<number, CohortDefinition>();
  const asked = new Set<number>();
  for (let wanted = cohortIdsIn(filter); wanted.length > 0; ) {
    for (const id of wanted) asked.add(id);
    if (asked.size > MAX_COHORTS) throw invalidInput(`A filter may reach ${MAX_COHORTS} cohorts at most.`);
    const cohorts = await loadDefinitions(db, projectId, wanted);
    for (const cohort of cohorts) found.set(cohort.id, cohort);
    wanted = cohorts.flatMap((cohort) => cohortIdsIn(cohort.filter)).filter((id) => !asked.has(id));
  }
  return found;
}

/**
 * Refuses (400) a filter that names a cohort which the project does not have, or has no more: of such a one the
 * numbers would be wrong. `where` says whose filter it is.
 */
export function requireCohorts(
  filter: Filter,
  cohorts: CohortDefinitions,
  where: string,
  attr = 'properties',
): void {
  const missing = cohortIdsIn(filter).find((id) => !cohorts.has(id));
  if (missing === undefined) return;
  throw invalidInput(`${where}: there is no cohort ${missing} in this project. ${WHERE_COHORTS_ARE}`, attr);
}

/**
 * Every cohort of a project that is not deleted, for what compiles many filters at once. One that cannot be read
 * any more is missing.
 */
export async function loadAllCohorts(db: Queryable, projectId: number): Promise<CohortDefinitions> {
  const rows = await runSql<StoredDefinition>(
    db,
    sql`select ${COLUMNS} from cohorts where project_id = ${projectId} and not deleted`,
  );
  const found = new Map<number, CohortDefinition>();
  for (const row of rows) {
    try {
      found.set(row.id, readDefinition(row));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return found;
}

const COLUMNS = sql`id, is_static as "isStatic", filters`;

async function loadDefinitions(
  db: Queryable,
  projectId: number,
  ids: readonly number[],
): Promise<CohortDefinition[]> {
  const rows = await runSql<StoredDefinition>(
    db,
    sql`select ${COLUMNS} from cohorts
      where project_id = ${projectId} and id = any(${ids}::integer[]) and not deleted`,
  );
  return rows.map(readDefinition);
}
