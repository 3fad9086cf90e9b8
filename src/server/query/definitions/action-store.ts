import { parseJson } from '../../../lib/json/parse-json.ts';
import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { invalidInput } from '../../http/errors.ts';
import type { Filter } from '../filter.ts';
import { type ActionDefinition, type ActionDefinitions, actionIdsIn } from './action-definition.ts';
import type { CohortDefinitions } from './cohort-definition.ts';
import { loadCohorts } from './cohort-store.ts';
import { parseSteps } from './parse-steps.ts';

/** What filters and entities name by id. */
export interface Definitions {
  readonly cohorts: CohortDefinitions;
  readonly actions: ActionDefinitions;
}

/** What one question may reach. */
const MAX_ACTIONS = 100;

/**
 * Every cohort and action that a filter and these actions reach, for `compileFilter`. Deleted and unknown ones are
 * missing.
 */
export async function loadDefinitions(
  db: Queryable,
  projectId: number,
  filter: Filter,
  actionIds: readonly number[] = [],
): Promise<Definitions> {
  const named = await loadActions(db, projectId, actionIds);
  const own = [...named.values()].flatMap(({ steps }) => steps.map((step) => step.filter));
  const cohorts = await loadCohorts(db, projectId, {
    kind: 'group',
    operator: 'and',
    members: [filter, ...own],
  });
  const filters = [filter, ...[...cohorts.values()].map((cohort) => cohort.filter)];
  const wanted = filters.flatMap(actionIdsIn).filter((id) => !named.has(id));
  if (new Set([...wanted, ...actionIds]).size > MAX_ACTIONS) {
    throw invalidInput(`A question may reach ${MAX_ACTIONS} actions at most.`);
  }
  return { cohorts, actions: new Map([...named, ...(await loadActions(db, projectId, wanted))]) };
}

/** Without those that are deleted or unknown. */
export async function loadActions(
  db: Queryable,
  projectId: number,
  ids: readonly number[],
): Promise<ActionDefinitions> {
  if (ids.length === 0) return new Map();
  const rows = await runSql<{ id: number; steps: string }>(
    db,
    sql`select id, steps from actions
      where project_id = ${projectId}::integer and id = any(${[...new Set(ids)]}::integer[]) and not deleted`,
  );
  return new Map(
    rows.map(({ id, steps }): [number, ActionDefinition] => [
      id,
      { id, steps: parseSteps(parseJson(steps), { anyPattern: true }) },
    ]),
  );
}
