import { randomUUID } from 'node:crypto';
import type { Db, Queryable } from '../../database/db.ts';
import { defineNames } from '../../definitions/define-names.ts';
import type { ProjectNames } from '../../definitions/defined-names.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { dropStored, insertEvents } from './event-store.ts';
import { saveGroups } from './group-store.ts';
import { loadKnown } from './known-store.ts';
import { isPointless } from './merge-request.ts';
import { savePersons } from './person-store.ts';
import { planGroups } from './plan-groups.ts';
import { type PersonsPlan, planPersons } from './plan-persons.ts';
import { lockProject } from './project-lock.ts';

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
  const result = await db.transaction((tx) => ingestWithin(tx, projectId, sent, known));
  known.remember(result.defined);
  return result;
}

/**
 * The same as part of a transaction, which may hold the project's lock already.
 * Without `known` the database is queried about every event name.
 */
export async function ingestWithin(
  tx: Queryable,
  projectId: number,
  sent: readonly IncomingEvent[],
  known?: ProjectNames,
): Promise<Ingested> {
  await lockProject(tx, projectId);
  return ingestLocked(tx, projectId, sent, known);
}

/** The same where the transaction holds the project's lock, since an earlier statement. */
export async function ingestLocked(
  tx: Queryable,
  projectId: number,
  sent: readonly IncomingEvent[],
  known?: ProjectNames,
): Promise<Ingested> {
  const events = sent.filter((event) => !isPointless(event));
  const before = await loadKnown(tx, projectId, events);
  const fresh = await dropStored(tx, projectId, events, before.stored);
  if (fresh.length === 0) {
    return { stored: 0, repeated: events.length, defined: [], warnings: {}, profileCharacters: 0 };
  }

  const persons = planPersons(fresh, before.persons, randomUUID);
  const groups = planGroups(fresh, before.groupTypes);
  await saveGroups(tx, projectId, groups);
  const rows = fresh.map((event) => ({
    event,
    personUuid: persons.owners.get(event.distinctId),
    marks: groups.marks.get(event),
  }));
  await savePersons(tx, projectId, persons, before.rowIds, insertEvents(projectId, rows));
  const defined = await defineNames(tx, projectId, fresh, known);
  const stored = fresh.length;
  return {
    stored,
    repeated: events.length - stored,
    defined,
    warnings: persons.warnings,
    profileCharacters: before.characters,
  };
}
