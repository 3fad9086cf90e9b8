import { recordChangeOfFields } from '../activity/activity-log.ts';
import type { Db, Queryable } from '../database/db.ts';
import { sql } from '../database/sql.ts';
import { invalidInput, notFound } from '../http/errors.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import { normaliseTags } from '../http/tags.ts';
import { compileFilter } from '../query/compile-filter.ts';
import { loadDefinitions } from '../query/definitions/action-store.ts';
import { requireCohorts } from '../query/definitions/cohort-store.ts';
import { parseSteps } from '../query/definitions/parse-steps.ts';
import type { FilterGroup } from '../query/filter.ts';
import type { ChangedActionBody, NewActionBody } from './schema.ts';
import { countActions, insertAction, loadAction, updateAction } from './store.ts';

export const MAX_ACTIONS_OF_PROJECT = 1000;

export interface ChangeContext {
  readonly projectId: number;
  readonly userId: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Creates an action and returns its id. */
export function createAction(db: Db, context: ChangeContext, wanted: NewActionBody): Promise<number> {
  return db.transaction(async (tx) => {
    const { name = null, description = '', tags = [] } = wanted;
    const steps = await readSteps(tx, context, wanted.steps);
    await checkRoom(tx, context.projectId);
    const action = { name, description, tags: normaliseTags(tags), steps };
    const id = await insertAction(tx, context.projectId, context.userId, action);
    await recordChangeOfFields(tx, context, { scope: 'Action', activity: 'created', id, name, fields: null });
    return id;
  });
}

/** Omitted fields stay as they are. A deleted action can only be restored. */
export function changeAction(
  db: Db,
  context: ChangeContext,
  id: number,
  wanted: ChangedActionBody,
): Promise<void> {
  return db.transaction(async (tx) => {
    const { name, description, deleted } = wanted;
    const action = await loadAction(tx, context.projectId, id);
    if (action === undefined || (action.deleted && deleted !== false)) throw notFound();
    if (action.deleted) await checkRoom(tx, context.projectId);
    const steps = wanted.steps && (await readSteps(tx, context, wanted.steps));
    const tags = wanted.tags && normaliseTags(wanted.tags);
    const changes = { name, description, tags, steps, deleted };
    await updateAction(tx, id, changes);
    const touched = Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [field]));
    await recordChangeOfFields(tx, context, {
      scope: 'Action',
      activity: deleted === true ? 'deleted' : 'updated',
      id,
      name: name ?? action.name,
      fields: touched,
    });
  });
}

/** Steps as they are kept. Refuses (400) what cannot be read, or names a cohort that is missing. */
async function readSteps(
  tx: Queryable,
  { projectId, now }: ChangeContext,
  given: readonly unknown[],
): Promise<JsonObject[]> {
  const members = parseSteps(given).map(({ filter }) => filter);
  const filter: FilterGroup = { kind: 'group', operator: 'and', members };
  const definitions = await loadDefinitions(tx, projectId, filter);
  requireCohorts(filter, definitions.cohorts, 'steps', 'steps');
  compileFilter(filter, {
    ...definitions,
    projectId,
    now,
    attr: 'steps',
    event: sql`e.properties`,
    person: { id: sql`p.id`, properties: sql`p.properties` },
  });
  return given.filter(isJsonObject).map(toStoredStep);
}

/** The conditions as their maker wrote them. */
const toStoredStep = ({ event, url, url_matching, properties }: JsonObject): JsonObject => ({
  event: event || null,
  url: url || null,
  url_matching: url_matching || 'contains',
  properties: properties ?? [],
});

async function checkRoom(tx: Queryable, projectId: number): Promise<void> {
  if ((await countActions(tx, projectId)) < MAX_ACTIONS_OF_PROJECT) return;
  throw invalidInput(`A project may have ${MAX_ACTIONS_OF_PROJECT} actions at most.`);
}
