import { parseJson } from '../../lib/json/parse-json.ts';
import { recordActivity } from '../activity/activity-log.ts';
import { captureEvent } from '../capture/capture-event.ts';
import { lockProject } from '../capture/ingest/project-lock.ts';
import type { Db, Queryable } from '../database/db.ts';
import { queueDeletion } from '../deletions/queue-deletion.ts';
import { invalidInput } from '../http/errors.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import { clearProperties, deletePerson, splitOff } from './change-store.ts';
import { describeChange, type PersonActivity } from './person-activity.ts';
import { type PersonId, personNotFound } from './person-id.ts';
import { orderIds } from './render-person.ts';
import { loadPerson, type StoredPerson } from './store.ts';

/**
 * Everything that changes a person at a client's request. Each change is one transaction under the
 * project's lock, so that no event comes in between: the person that is read is the one that is changed,
 * and the log has it or nothing happened. Properties are set and removed by events; only a split that
 * cannot tell whose they are clears them without one.
 */
export interface ChangeDeps {
  readonly db: Db;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The person to change, and the calling user. */
export interface ChangeTarget {
  readonly projectId: number;
  readonly userId: number;
  readonly person: PersonId;
}

export function setProperties(
  deps: ChangeDeps,
  target: ChangeTarget,
  set: JsonObject,
): Promise<StoredPerson> {
  return change(deps, target, 'updated', async (tx, person) => {
    if (Object.keys(set).length === 0) return false;
    await captureFor(deps, tx, target, person, '$set', { $set: set });
    return true;
  });
}

/** Always captures the event, as in the contract; the log records it only if the property existed. */
export function deleteProperty(deps: ChangeDeps, target: ChangeTarget, key: string): Promise<StoredPerson> {
  return change(deps, target, 'delete_property', async (tx, person) => {
    await captureFor(deps, tx, target, person, '$delete_person_property', { $unset: [key] });
    return hasProperty(person, key);
  });
}

/**
 * Every other id gets a person of its own; events follow their ids. Without a main id the first one stays,
 * and the person's properties are cleared, as their owner is unknown. With a single id nothing
 * changes.
 */
export function splitPerson(
  deps: ChangeDeps,
  target: ChangeTarget,
  mainDistinctId: string | undefined,
): Promise<StoredPerson> {
  return change(deps, target, 'split_person', async (tx, person) => {
    const ids = orderIds(person.distinctIds);
    const main = mainDistinctId ?? getFirstId(person);
    if (!ids.includes(main)) {
      throw invalidInput('The person does not have this distinct id.', 'main_distinct_id');
    }
    const others = ids.filter((id) => id !== main);
    if (others.length === 0) return false;
    if (mainDistinctId === undefined) await clearProperties(tx, person.id);
    await splitOff(tx, target.projectId, person.id, others);
    return true;
  });
}

/** Deletes the person and their ids now; with `withEvents`, the events when the deletion job runs. */
export async function removePerson(
  { db }: ChangeDeps,
  target: ChangeTarget,
  withEvents: boolean,
): Promise<void> {
  const { projectId, userId } = target;
  await db.transaction(async (tx) => {
    const person = await lockPerson(tx, target);
    if (withEvents) {
      const distinctIds = person.distinctIds;
      await queueDeletion(tx, { projectId, personUuid: person.uuid, distinctIds, userId });
    }
    await deletePerson(tx, person.id);
    await log(tx, target, 'deleted', person);
  });
}

/** Returns the person afterwards. `apply` returns whether the change is recorded in the log. */
function change(
  { db }: ChangeDeps,
  target: ChangeTarget,
  activity: PersonActivity,
  apply: (tx: Queryable, person: StoredPerson) => Promise<boolean>,
): Promise<StoredPerson> {
  return db.transaction(async (tx) => {
    const person = await lockPerson(tx, target);
    if (await apply(tx, person)) await log(tx, target, activity, person);
    return found(await loadPerson(tx, target.projectId, { id: person.id }));
  });
}

async function lockPerson(tx: Queryable, { projectId, person }: ChangeTarget): Promise<StoredPerson> {
  await lockProject(tx, projectId);
  return found(await loadPerson(tx, projectId, person));
}

function found(person: StoredPerson | undefined): StoredPerson {
  if (person === undefined) throw personNotFound();
  return person;
}

async function captureFor(
  { now }: ChangeDeps,
  tx: Queryable,
  { projectId }: ChangeTarget,
  person: StoredPerson,
  event: string,
  properties: JsonObject,
): Promise<void> {
  await captureEvent(tx, projectId, { event, distinctId: getFirstId(person), properties }, now());
}

function hasProperty(person: StoredPerson, key: string): boolean {
  const value = parseJson(person.properties);
  return isJsonObject(value) && Object.hasOwn(value, key);
}

function getFirstId(person: StoredPerson): string {
  const [first] = orderIds(person.distinctIds);
  if (first !== undefined) return first;
  throw invalidInput('The person has no distinct id, so no event can reach them.');
}

async function log(
  tx: Queryable,
  { projectId, userId }: ChangeTarget,
  activity: PersonActivity,
  person: StoredPerson,
): Promise<void> {
  const detail = describeChange(activity, { uuid: person.uuid, distinctIds: person.distinctIds });
  const itemId = String(person.id);
  await recordActivity(tx, { projectId, userId, scope: 'Person', itemId, activity, detail: { ...detail } });
}
