import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { invalidInput } from '../http/errors.ts';
import {
  type CohortDefinition,
  type CohortDefinitions,
  cohortIdsIn,
  readDefinition,
  type StoredDefinition,
} from './cohort-definition.ts';
import type { Filter } from './filter.ts';

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

async function loadDefinitions(
  db: Queryable,
  projectId: number,
  ids: readonly number[],
): Promise<CohortDefinition[]> {
  const rows = await runSql<StoredDefinition>(
    db,
    sql`select id, is_static as "isStatic", filters from cohorts
      where project_id = ${projectId} and id = any(${ids}::integer[]) and not deleted`,
  );
  return rows.map(readDefinition);
}
