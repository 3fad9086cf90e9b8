import { parseJson } from '../../lib/json/parse-json.ts';
import { loadUsers } from '../auth/users.ts';
import type { Queryable } from '../database/db.ts';
import { isJsonObject } from '../http/json.ts';
import type { CohortBody } from './schema.ts';
import type { StoredCohort } from './store.ts';

/** Cohorts in the service's shape, with the users who made them. */
export async function renderCohorts(db: Queryable, cohorts: readonly StoredCohort[]): Promise<CohortBody[]> {
  const users = await loadUsers(
    db,
    cohorts.flatMap(({ created_by: userId }) => userId ?? []),
  );
  return cohorts.map((cohort) => {
    const filters = parseJson(cohort.filters);
    const groups = parseJson(cohort.groups);
    return {
      id: cohort.id,
      name: cohort.name,
      description: cohort.description,
      groups: Array.isArray(groups) ? groups : [],
      deleted: cohort.deleted,
      filters: isJsonObject(filters) ? { ...filters } : {},
      query: null,
      is_calculating: false,
      created_by: users.get(cohort.created_by ?? 0) ?? null,
      created_at: cohort.created_at,
      last_calculation: cohort.last_calculation,
      errors_calculating: cohort.errors_calculating,
      count: cohort.count,
      is_static: cohort.is_static,
    };
  });
}
