import { lockProject } from '../accounts/project-lock.ts';
import type { Db, Queryable } from '../database/db.ts';
import type { Deletions } from '../deletions/deletion-port.ts';
import type { NamesOfProject } from './defined-names.ts';
import { keepDefinitions, namesToDefine } from './definition-store.ts';
import { dropStored, saveEvents } from './event-store.ts';
import type { IncomingEvent } from './incoming-event.ts';
import { loadGroupTypes, saveGroups } from './persons/group-store.ts';
import { isPointless } from './persons/merge-request.ts';
import { loadKnownPersons, savePersons } from './persons/person-store.ts';
import { planGroups, speaksOfGroups } from './persons/plan-groups.ts';
import { collectDistinctIds, type PersonsPlan, planPersons } from './persons/plan-persons.ts';

export interface Ingested {
  readonly stored: number;
  /** Known already by their uuid. */
  readonly repeated: number;
  /** Event names whose definitions were seen to. */
  readonly defined: readonly string[];
  readonly warnings: PersonsPlan['warnings'];
}

export interface IngestTools {
  readonly createUuid: () => string;
  readonly release: Deletions['release'];
  /** Left out: the database is asked about every name. */
  readonly defined?: NamesOfProject;
}

/**
 * Stores the events of one request and what they say of people and groups, in one transaction: all of
 * it or nothing, and nothing twice.
 */
export async function ingest(
  db: Db,
  projectId: number,
  sent: readonly IncomingEvent[],
  tools: IngestTools & { readonly defined: NamesOfProject },
): Promise<Ingested> {
  const result = await db.transaction((tx) => ingestWithin(tx, projectId, sent, tools));
  tools.defined.remember(result.defined);
  return result;
}

/** The same as part of a transaction, which may hold the project's lock already. */
export async function ingestWithin(
  tx: Queryable,
  projectId: number,
  sent: readonly IncomingEvent[],
  { createUuid, release, defined }: IngestTools,
): Promise<Ingested> {
  const events = sent.filter((event) => !isPointless(event));
  await lockProject(tx, projectId);
  const fresh = await dropStored(tx, projectId, events, release);
  if (fresh.length === 0) return { stored: 0, repeated: events.length, defined: [], warnings: {} };

  const before = await loadKnownPersons(tx, projectId, collectDistinctIds(fresh));
  const people = planPersons(fresh, before.people, createUuid);
  await savePersons(tx, projectId, people, before.rowIds);

  const knownTypes = fresh.some(speaksOfGroups) ? await loadGroupTypes(tx, projectId) : [];
  const groups = planGroups(fresh, knownTypes);
  await saveGroups(tx, projectId, groups);

  const rows = fresh.map((event) => ({
    event,
    personUuid: people.personOf.get(event.distinctId),
    marks: groups.marks.get(event.uuid),
  }));
  await saveEvents(tx, projectId, rows);
  const names = namesToDefine(fresh);
  const missing = defined?.missing(names) ?? names;
  await keepDefinitions(tx, projectId, missing);
  const stored = fresh.length;
  return { stored, repeated: events.length - stored, defined: missing, warnings: people.warnings };
}
