import { toJsonArray, toTextArray, toTimeArray, toUuidArray } from '../../database/binary-array.ts';
import type { Queryable } from '../../database/db.ts';
import { runSql, type Sql, sql } from '../../database/sql.ts';
import { withArrival } from '../../deletions/arrivals.ts';
import { releaseResent } from '../../deletions/queue-deletion.ts';
import { addMembers } from '../../http/json.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { dropRows, type RowKey } from '../same-row.ts';
import { selectStored } from './known-store.ts';

/** The events that the project does not have yet: only these may change persons. */
export async function dropStored(
  tx: Queryable,
  projectId: number,
  events: readonly IncomingEvent[],
  stored: readonly RowKey[],
): Promise<readonly IncomingEvent[]> {
  if (stored.length === 0) return events;
  const known = new Set(stored.map(({ uuid }) => uuid));
  const released = await releaseResent(tx, projectId, [...known]);
  return dropRows(events, released ? await findStored(tx, projectId, events) : stored);
}

function findStored(tx: Queryable, projectId: number, events: readonly IncomingEvent[]): Promise<RowKey[]> {
  return runSql<RowKey>(
    tx,
    sql`select uuid, event, distinct_id as "distinctId", day from (${selectStored(projectId, events)}) as stored`,
  );
}

export interface EventToSave {
  readonly event: IncomingEvent;
  readonly personUuid: string | undefined;
  /** Properties that the batch adds to the event, such as `$group_0`. */
  readonly marks: ReadonlyMap<string, string> | undefined;
}

/** An insert, and what its statement begins with. */
export interface InsertSql {
  readonly withs: Sql;
  readonly insert: Sql;
}

export function insertEvents(projectId: number, rows: readonly EventToSave[]): InsertSql {
  const events = rows.map(({ event }) => event);
  const insert = sql`insert into events (project_id, uuid, event, distinct_id, person_id, timestamp, properties, received_at)
    select ${projectId}, t.uuid, t.event, t.distinct_id, t.person_id, t.timestamp, t.properties,
      (select at from arrival)
    from unnest(
      ${toUuidArray(events.map(({ uuid }) => uuid))}::uuid[],
      ${toTextArray(events.map(({ event }) => event))}::text[],
      ${toTextArray(events.map(({ distinctId }) => distinctId))}::text[],
      ${toUuidArray(rows.map(({ personUuid }) => personUuid))}::uuid[],
      ${toTimeArray(events.map(({ timestamp }) => timestamp))}::timestamptz[],
      ${toJsonArray(rows.map(addMarks))}::jsonb[]
    ) as t (uuid, event, distinct_id, person_id, timestamp, properties)`;
  return { withs: withArrival(projectId), insert };
}

function addMarks({ event: { propertiesText }, marks }: EventToSave): Uint8Array {
  if (marks === undefined) return propertiesText;
  const members = [...marks].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return addMembers(propertiesText, members.join(','));
}
