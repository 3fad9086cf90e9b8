import { randomUUID } from 'node:crypto';
import { type Db, prepareAll, type Queryable } from '../../database/db.ts';
import { defineNames } from '../../definitions/define-names.ts';
import type { ProjectNames } from '../../definitions/defined-names.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { dropStored, insertEvents } from './event-store.ts';
import { saveGroups } from './group-store.ts';
import { type Known, loadKnown } from './known-store.ts';
import { isPointless } from './merge-request.ts';
import { savePersons } from './person-store.ts';
import { planGroups } from './plan-groups.ts';
import { type PersonsPlan, planPersons } from './plan-persons.ts';
import { lockProject, lockProjectForPrepared } from './project-lock.ts';

export interface Ingested {
  readonly stored: number;
  /** Events that were stored before. */
  readonly repeated: number;
  /** Event names whose definitions were written or updated. */
  readonly defined: readonly string[];
  readonly warnings: PersonsPlan['warnings'];
  /** Of the persons as they were before: characters of their properties as JSON, together. */
  readonly profileCharacters: number;
}

/**
 * Stores the events of one request and what they change about persons and groups in one transaction:
 * everything or nothing, and each event once.
 */
export async function ingest(
  db: Db,
  projectId: number,
  sent: readonly IncomingEvent[],
  known: ProjectNames,
): Promise<Ingested> {
  const result = await db.transaction(async (unprepared) => {
    const tx = prepareAll(unprepared);
    await lockProjectForPrepared(tx, projectId);
    return ingestAfterLock(tx, projectId, sent, known);
  });
  known.remember(result.defined);
  return result;
}

/** The same as part of a transaction, which may hold the project's lock already. */
export async function ingestWithin(
  tx: Queryable,
  projectId: number,
  sent: readonly IncomingEvent[],
): Promise<Ingested> {
  await lockProject(tx, projectId);
  return ingestAfterLock(tx, projectId, sent, undefined);
}

async function ingestAfterLock(
  tx: Queryable,
  projectId: number,
  sent: readonly IncomingEvent[],
  names: ProjectNames | undefined,
): Promise<Ingested> {
  const events = dropPointless(sent);
  return ingestLocked(tx, projectId, { events, before: await loadKnown(tx, projectId, events), names });
}

export interface LockedEvents {
  /** Without pointless ones. */
  readonly events: readonly IncomingEvent[];
  /** Read under the project's lock. */
  readonly before: Known;
  /** @default the database is queried about every event name */
  readonly names: ProjectNames | undefined;
  /**
   * Called before anything is written; what it throws ends the transaction. Given where the transaction is for these
   * events alone, which is then committed with its last statement.
   *
   * @default the caller commits
   */
  readonly approve?: (planned: Planned) => void;
}

export type Planned = Pick<Ingested, 'warnings' | 'profileCharacters'>;

/** Events that do nothing are not stored. */
export const dropPointless = (sent: readonly IncomingEvent[]): readonly IncomingEvent[] =>
  sent.filter((event) => !isPointless(event));

/** Stores events where the transaction holds the project's lock, and has read what is known. */
export async function ingestLocked(
  tx: Queryable,
  projectId: number,
  { events, before, names, approve }: LockedEvents,
): Promise<Ingested> {
  const fresh = await dropStored(tx, projectId, events, before.stored);
  if (fresh.length === 0) {
    return { stored: 0, repeated: events.length, defined: [], warnings: {}, profileCharacters: 0 };
  }

  const plan = planPersons(fresh, before.persons, randomUUID);
  const planned = { warnings: plan.warnings, profileCharacters: before.characters };
  approve?.(planned);
  const groups = planGroups(fresh, before.groupTypes);
  await saveGroups(tx, projectId, groups);
  const defined = await defineNames(tx, projectId, fresh, names);
  const rows = fresh.map((event) => ({
    event,
    personUuid: plan.owners.get(event.distinctId),
    marks: groups.marks.get(event),
  }));
  await savePersons(tx, projectId, {
    plan,
    known: before.rowIds,
    events: insertEvents(projectId, rows),
    commits: approve !== undefined,
  });
  const stored = fresh.length;
  return { ...planned, stored, repeated: events.length - stored, defined };
}
