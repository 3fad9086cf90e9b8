import type { Queryable } from '../database/db.ts';
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

/** Every cohort that a filter reaches, for `compileFilter`. Deleted and unknown ones are left out. */
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
  const rows = await db.query<StoredDefinition>(
    `select id, is_static, filters from cohorts
     where project_id = $1 and id = any($2::integer[]) and not deleted`,
    [projectId, ids],
  );
  return rows.map(readDefinition);
}
