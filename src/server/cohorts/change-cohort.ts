import { recordChangeOfFields } from '../activity/activity-log.ts';
import type { Queryable } from '../database/db.ts';
import { invalidInput, notFound } from '../http/errors.ts';
import { type CountDeps, countMembers } from './count-cohorts.ts';
import { type ParsedDefinition, parseDefinition, refuseDefinition } from './parse-definition.ts';
import { checkDefinition } from './person-condition.ts';
import type { ChangedCohortBody, NewCohortBody } from './schema.ts';
import { countCohorts, insertCohort, loadCohortsById, type StoredCohort, updateCohort } from './store.ts';

/** Listing a person's cohorts evaluates the condition of each. */
export const MAX_COHORTS_OF_PROJECT = 1000;

export interface ChangeContext {
  readonly projectId: number;
  /** Id of the calling user; null: the system itself. */
  readonly userId: number | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Creates a cohort, counts its members and returns its id. */
export async function createCohort(
  deps: CountDeps,
  context: ChangeContext,
  wanted: NewCohortBody,
): Promise<number> {
  const id = await deps.db.transaction((tx) => insertIn(tx, context, wanted));
  await countMembers(deps, context.projectId, id);
  return id;
}

/** Omitted fields stay as they are. A deleted cohort can only be restored. */
export async function changeCohort(
  deps: CountDeps,
  context: ChangeContext,
  id: number,
  wanted: ChangedCohortBody,
): Promise<void> {
  const redefined = await deps.db.transaction((tx) => changeIn(tx, context, id, wanted));
  if (redefined) await countMembers(deps, context.projectId, id);
}

/** Within the caller's transaction, without counting. */
export async function insertIn(
  tx: Queryable,
  context: ChangeContext,
  wanted: NewCohortBody,
): Promise<number> {
  const { projectId, userId, now } = context;
  const { name = null, description = '', is_static: isStatic = false } = wanted;
  const definition = readDefinition(isStatic, wanted);
  await checkRoom(tx, projectId);
  if (definition) await checkDefinition(tx, projectId, definition.filter, now);
  const id = await insertCohort(tx, projectId, userId, { name, description, isStatic, definition });
  await recordChangeOfFields(tx, context, { scope: 'Cohort', activity: 'created', id, name, fields: null });
  return id;
}

/** Within the caller's transaction, without counting; true when its definition changed. */
export async function changeIn(
  tx: Queryable,
  context: ChangeContext,
  id: number,
  wanted: ChangedCohortBody,
): Promise<boolean> {
  const { projectId, now } = context;
  const { name, description, deleted } = wanted;
  const [cohort] = await loadCohortsById(tx, projectId, [id]);
  if (cohort === undefined || (cohort.deleted && deleted !== false)) throw notFound();
  if (cohort.deleted) await checkRoom(tx, projectId);
  const definition = changedDefinition(cohort, wanted);
  if (definition) await checkDefinition(tx, projectId, definition.filter, now, id);
  await updateCohort(tx, id, { name, description, deleted, definition });
  const fields = Object.entries({ name, description, deleted, filters: definition });
  const touched = fields.flatMap(([field, value]) => (value === undefined ? [] : [field]));
  await recordChangeOfFields(tx, context, {
    scope: 'Cohort',
    activity: deleted === true ? 'deleted' : 'updated',
    id,
    name: name ?? cohort.name,
    fields: touched,
  });
  return definition !== undefined;
}

function changedDefinition(cohort: StoredCohort, wanted: ChangedCohortBody): ParsedDefinition | undefined {
  if (wanted.is_static !== undefined && wanted.is_static !== cohort.isStatic) {
    throw invalidInput('A static cohort stays static, a dynamic one dynamic.', 'is_static');
  }
  if (wanted.filters === undefined && wanted.groups === undefined) return undefined;
  return readDefinition(cohort.isStatic, wanted);
}

function readDefinition(isStatic: boolean, wanted: ChangedCohortBody): ParsedDefinition | undefined {
  if (!isStatic) return parseDefinition(wanted);
  refuseDefinition(wanted);
  return undefined;
}

async function checkRoom(tx: Queryable, projectId: number): Promise<void> {
  if ((await countCohorts(tx, projectId)) < MAX_COHORTS_OF_PROJECT) return;
  throw invalidInput(`A project may have ${MAX_COHORTS_OF_PROJECT} cohorts at most.`);
}
