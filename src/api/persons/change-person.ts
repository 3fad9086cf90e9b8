import { recordActivity } from '../activity-log.ts';
import type { Capture } from '../capture-port.ts';
import type { Db, Queryable } from '../database/db.ts';
import type { Deletions } from '../deletion-port.ts';
import { invalidInput } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type PersonId, personNotFound } from '../person-id.ts';
import { lockProject } from '../project-lock.ts';
import { clearProperties, deletePerson, splitOff } from './change-store.ts';
import { describeChange, type PersonActivity } from './person-activity.ts';
import { orderIds } from './render-person.ts';
import { loadPerson, type StoredPerson } from './store.ts';

/**
 * Everything that changes a person at a client's request. Each change is one transaction under the
 * project's lock, so that no event comes in between: the person that is read is the one that is changed,
 * and the log has it or nothing happened. Properties change through events alone.
 */
export interface ChangeDeps {
  readonly db: Db;
  readonly capture: Capture;
  readonly deletions: Deletions;
}

/** Whom a change is about, and who asks for it. */
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
  return change(deps, target, 'updated', (tx, person) =>
    captureFor(deps, tx, target, person, '$set', { $set: set }),
  );
}

export function deleteProperty(deps: ChangeDeps, target: ChangeTarget, key: string): Promise<StoredPerson> {
  return change(deps, target, 'delete_property', (tx, person) =>
    captureFor(deps, tx, target, person, '$delete_person_property', { $unset: [key] }),
  );
}

/**
 * Every other id gets a person of its own; events follow their ids. Without a main id the first one stays,
 * and the person's properties go, as nobody can say whose they are.
 */
export function splitPerson(
  deps: ChangeDeps,
  target: ChangeTarget,
  mainDistinctId: string | undefined,
): Promise<StoredPerson> {
  return change(deps, target, 'split_person', async (tx, person) => {
    const ids = orderIds(person.distinct_ids);
    const main = mainDistinctId ?? firstIdOf(person);
    if (!ids.includes(main)) {
      throw invalidInput('The person does not have this distinct id.', 'main_distinct_id');
    }
    if (mainDistinctId === undefined) await clearProperties(tx, person.id);
    const others = ids.filter((id) => id !== main);
    await splitOff(tx, target.projectId, person.id, others);
  });
}

/** The person and their ids go at once; their events, where that is wished, when the job comes round. */
export async function removePerson(
  { db, deletions }: ChangeDeps,
  target: ChangeTarget,
  withEvents: boolean,
): Promise<void> {
  const { projectId, userId } = target;
  await db.transaction(async (tx) => {
    const person = await lockPerson(tx, target);
    if (withEvents) {
      const distinctIds = person.distinct_ids;
      await deletions.queue(tx, { projectId, personUuid: person.uuid, distinctIds, userId });
    }
    await deletePerson(tx, person.id);
    await log(tx, target, 'deleted', person);
  });
}

/** The person afterwards. */
function change(
  { db }: ChangeDeps,
  target: ChangeTarget,
  activity: PersonActivity,
  apply: (tx: Queryable, person: StoredPerson) => Promise<void>,
): Promise<StoredPerson> {
  return db.transaction(async (tx) => {
    const person = await lockPerson(tx, target);
    await apply(tx, person);
    await log(tx, target, activity, person);
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
  { capture }: ChangeDeps,
  tx: Queryable,
  { projectId }: ChangeTarget,
  person: StoredPerson,
  event: string,
  properties: JsonObject,
): Promise<void> {
  await capture(tx, projectId, { event, distinctId: firstIdOf(person), properties });
}

function firstIdOf(person: StoredPerson): string {
  const [first] = orderIds(person.distinct_ids);
  if (first !== undefined) return first;
  throw invalidInput('The person has no distinct id, so no event can reach them.');
}

async function log(
  tx: Queryable,
  { projectId, userId }: ChangeTarget,
  activity: PersonActivity,
  person: StoredPerson,
): Promise<void> {
  const detail = describeChange(activity, { uuid: person.uuid, distinctIds: person.distinct_ids });
  const itemId = String(person.id);
  await recordActivity(tx, { projectId, userId, scope: 'Person', itemId, activity, detail: { ...detail } });
}
