import type { Queryable } from '../database/db.ts';
import { type Sql, sql } from '../database/sql.ts';
import { invalidInput } from '../http/errors.ts';
import { compileFilter } from '../query/compile-filter.ts';
import { type Definitions, loadDefinitions } from '../query/definitions/action-store.ts';
import { cohortIdsIn } from '../query/definitions/cohort-definition.ts';
import type { Filter } from '../query/filter.ts';

/** The condition of a filter on `p`, the person. */
export async function compileForPersons(
  db: Queryable,
  projectId: number,
  filter: Filter,
  now: number,
): Promise<Sql> {
  return compileWith(projectId, filter, now, await loadDefinitions(db, projectId, filter));
}

/**
 * Refuses (400) a definition that names missing cohorts, contains itself or does not apply to persons.
 * `ownId`: the cohort that it defines; undefined for a new one.
 */
export async function checkDefinition(
  db: Queryable,
  projectId: number,
  filter: Filter,
  now: number,
  ownId?: number,
): Promise<void> {
  const definitions = await loadDefinitions(db, projectId, filter);
  const { cohorts } = definitions;
  const missing = cohortIdsIn(filter).find((id) => !cohorts.has(id));
  if (missing !== undefined) throw invalidInput(`Cohort ${missing} does not exist.`, 'filters');
  if (ownId !== undefined && cohorts.has(ownId)) {
    throw invalidInput('A cohort cannot contain itself.', 'filters');
  }
  compileWith(projectId, filter, now, definitions);
}

/** The same with what it reaches already loaded. */
export const compileWith = (projectId: number, filter: Filter, now: number, definitions: Definitions): Sql =>
  compileFilter(filter, {
    projectId,
    now,
    person: { id: sql`p.id`, properties: sql`p.properties` },
    ...definitions,
    attr: 'filters',
  });
