import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { releaseResent } from '../../deletions/queue-deletion.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { dropRows, type RowKey } from '../same-row.ts';

/** The events that the project does not have yet: only these may change persons. */
export async function dropStored(
  tx: Queryable,
  projectId: number,
  events: readonly IncomingEvent[],
): Promise<readonly IncomingEvent[]> {
  const uuids = events.map(({ uuid }) => uuid);
  const stored = await findStored(tx, projectId, uuids);
  if (stored.length === 0) return events;
  const known = new Set(stored.map(({ uuid }) => uuid));
  const released = await releaseResent(tx, projectId, [...known]);
  return dropRows(events, released ? await findStored(tx, projectId, uuids) : stored);
}

function findStored(tx: Queryable, projectId: number, uuids: readonly string[]): Promise<RowKey[]> {
  // One look into the index for each uuid. Without the fence (offset 0), and before the table has
  // statistics, Postgres takes another index of the project and reads every event there is.
  return runSql<RowKey>(
    tx,
    sql`select stored.uuid, stored.event, stored.distinct_id as "distinctId",
        floor(extract(epoch from stored.timestamp) / 86400)::integer as day
      from (select distinct uuid from unnest(${uuids}::uuid[]) as given (uuid)) as sent
      cross join lateral (
        select e.uuid, e.event, e.distinct_id, e.timestamp from events e
        where e.project_id = ${projectId} and e.uuid = sent.uuid offset 0
      ) as stored`,
  );
}

export interface EventToSave {
  readonly event: IncomingEvent;
  readonly personUuid: string | undefined;
  /** Properties that the batch adds to the event, such as `$group_0`. */
  readonly marks: ReadonlyMap<string, string> | undefined;
}

export async function saveEvents(
  tx: Queryable,
  projectId: number,
  events: readonly EventToSave[],
): Promise<void> {
  const rows = `[${events.map(toRow).join(',')}]`;
  await runSql(
    tx,
    sql`insert into events (project_id, uuid, event, distinct_id, person_id, timestamp, properties)
      select ${projectId}, u, e, d, p, t, x
      from json_to_recordset(${rows}::json)
         as t (u uuid, e text, d text, p uuid, t timestamptz, x jsonb)`,
  );
}

function toRow({ event, personUuid, marks }: EventToSave): string {
  const person = personUuid === undefined ? 'null' : `"${personUuid}"`;
  return `{"u":"${event.uuid}","e":${JSON.stringify(event.event)},"d":${JSON.stringify(event.distinctId)},"p":${person},"t":"${event.timestamp}","x":${addMarks(event.propertiesText, marks)}}`;
}

/** Adds members at the end of the text of an object: of a repeated key jsonb keeps the last, so these win. */
function addMarks(propertiesText: string, marks: ReadonlyMap<string, string> | undefined): string {
  if (marks === undefined) return propertiesText;
  const members = [...marks]
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
    .join(',');
  return propertiesText === '{}' ? `{${members}}` : `${propertiesText.slice(0, -1)},${members}}`;
}
