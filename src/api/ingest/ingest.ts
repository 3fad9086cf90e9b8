import type { Db, Queryable } from '../database/db.ts';
import { lockProject } from '../project-lock.ts';
import { keepDefinitions } from './definition-store.ts';
import { keepUnstored, saveEvents } from './event-store.ts';
import { loadGroupTypes, saveGroups } from './group-store.ts';
import type { IncomingEvent } from './incoming-event.ts';
import { isPointless } from './merge-request.ts';
import { loadPeople, savePeople } from './people-store.ts';
import { planGroups, speaksOfGroups } from './plan-groups.ts';
import { distinctIdsOf, type PeoplePlan, planPeople } from './plan-people.ts';

export interface Ingested {
  readonly stored: number;
  /** Known already by their uuid. */
  readonly repeated: number;
  readonly warnings: PeoplePlan['warnings'];
}

/**
 * Stores the events of one request and what they say of people and groups, in one transaction: all of
 * it or nothing, and nothing twice.
 */
export function ingest(
  db: Db,
  projectId: number,
  sent: readonly IncomingEvent[],
  createUuid: () => string,
): Promise<Ingested> {
  return db.transaction((tx) => ingestWithin(tx, projectId, sent, createUuid));
}

/** The same as part of a transaction, which may hold the project's lock already. */
export async function ingestWithin(
  tx: Queryable,
  projectId: number,
  sent: readonly IncomingEvent[],
  createUuid: () => string,
): Promise<Ingested> {
  const events = sent.filter((event) => !isPointless(event));
  await lockProject(tx, projectId);
  const fresh = await keepUnstored(tx, projectId, events);
  if (fresh.length === 0) return { stored: 0, repeated: events.length, warnings: {} };

  const before = await loadPeople(tx, projectId, distinctIdsOf(fresh));
  const people = planPeople(fresh, before.people, createUuid);
  await savePeople(tx, projectId, people, before.rowIds);

  const knownTypes = fresh.some(speaksOfGroups) ? await loadGroupTypes(tx, projectId) : [];
  const groups = planGroups(fresh, knownTypes);
  await saveGroups(tx, projectId, groups);

  const rows = fresh.map((event) => ({
    event,
    personUuid: people.personOf.get(event.distinctId),
    marks: groups.marks.get(event.uuid),
  }));
  await saveEvents(tx, projectId, rows);
  await keepDefinitions(
    tx,
    projectId,
    fresh.map(({ event }) => event),
  );
  return { stored: fresh.length, repeated: events.length - fresh.length, warnings: people.warnings };
}
