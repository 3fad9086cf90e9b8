import type { Queryable } from '../../database/db.ts';
import { invalidInput } from '../../http/errors.ts';
import { isJsonObject, type JsonObject } from '../../http/json.ts';
import { idOf, WHERE_ACTIONS_ARE } from '../item-fields.ts';
import { parseFilter } from '../parse-filter.ts';
import { noSuchAction } from './action-definition.ts';
import { loadActions } from './action-store.ts';
import { loadCohorts, requireCohorts } from './cohort-store.ts';

/**
 * Refuses (400) filters or a query that name a cohort or an action in a way that cannot be read, or one that the
 * project does not have: whoever writes an insight learns it at once. What is deleted later is an error of the tile.
 */
export async function checkReferences(
  db: Queryable,
  projectId: number,
  document: unknown,
  attr: string,
): Promise<void> {
  const { cohortItems, actionIds } = listReferences(document);
  if (cohortItems.length > 0) {
    const filter = parseFilter(cohortItems, { defaultType: 'person', attr });
    requireCohorts(filter, await loadCohorts(db, projectId, filter), attr, attr);
  }
  const ids = actionIds.map((given) => readId(given, attr));
  const actions = await loadActions(db, projectId, ids);
  const missing = ids.find((id) => !actions.has(id));
  if (missing !== undefined) throw noSuchAction(missing, attr);
}

function readId(given: unknown, attr: string): number {
  const id = idOf(given);
  if (id !== undefined) return id;
  throw invalidInput(`The id of an action is a whole number. ${WHERE_ACTIONS_ARE}`, attr);
}

const COHORT_TYPES: ReadonlySet<unknown> = new Set(['cohort', 'static-cohort', 'precalculated-cohort']);

interface References {
  readonly cohortItems: readonly JsonObject[];
  readonly actionIds: readonly unknown[];
}

/** Conditions on cohorts, and what names actions, at whatever depth. */
function listReferences(root: unknown): References {
  const cohortItems: JsonObject[] = [];
  const actionIds: unknown[] = [];
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) waiting.push(...value);
    if (!isJsonObject(value)) continue;
    if (COHORT_TYPES.has(value['type'])) {
      cohortItems.push(value);
      continue;
    }
    if (value['type'] === 'actions' || value['kind'] === 'ActionsNode') actionIds.push(value['id']);
    if (value['type'] === 'behavioral' && value['event_type'] === 'actions') actionIds.push(value['key']);
    const { actions } = value;
    if (Array.isArray(actions)) actionIds.push(...actions.filter(isUntyped).map(({ id }) => id));
    waiting.push(...Object.values(value));
  }
  return { cohortItems, actionIds };
}

/** Others are met by themselves. */
const isUntyped = (item: unknown): item is JsonObject => isJsonObject(item) && item['type'] === undefined;
