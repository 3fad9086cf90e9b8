import type { Queryable } from '../database/db.ts';
import { allOf, runSql, sql } from '../database/sql.ts';

export interface EventCount {
  readonly event: string;
  readonly count: number;
}

export function loadEventCounts(db: Queryable, projectId: number): Promise<EventCount[]> {
  return runSql<EventCount>(
    db,
    sql`select event, count(*) as count from events where project_id = ${projectId}
      group by event order by count(*) desc, event`,
  );
}

export interface StoredEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  readonly timestamp: string;
  /** JSON text. */
  readonly properties: string;
}

export type EventId = Omit<StoredEvent, 'properties'>;

export interface EventFilter {
  readonly distinctId?: string | undefined;
  /** uuid of a person, who has all events of all their ids. */
  readonly personUuid?: string | undefined;
  readonly event?: string | undefined;
  /** Position of the last event of the page before. */
  readonly after?: EventId | undefined;
  readonly limit: number;
}

/** Newest first; ties in order of the rest, so that a page starts exactly where the last one ended. */
export function loadEvents(db: Queryable, projectId: number, filter: EventFilter): Promise<StoredEvent[]> {
  const { distinctId, personUuid, event, after } = filter;
  const conditions = [
    sql`project_id = ${projectId}`,
    ...(distinctId === undefined ? [] : [sql`distinct_id = ${distinctId}`]),
    ...(personUuid === undefined
      ? []
      : [
          sql`distinct_id in (
            select d.distinct_id from person_distinct_ids d join persons p on p.id = d.person_id
            where p.project_id = ${projectId} and p.uuid = ${personUuid})`,
        ]),
    ...(event === undefined ? [] : [sql`event = ${event}`]),
    ...(after === undefined
      ? []
      : [
          sql`(timestamp, uuid, event, distinct_id) < (${after.timestamp}::timestamptz, ${after.uuid}::uuid,
            ${after.event}, ${after.distinctId})`,
        ]),
  ];
  return runSql<StoredEvent>(
    db,
    sql`select uuid, event, distinct_id as "distinctId", timestamp, properties from events
      where ${allOf(conditions)} order by timestamp desc, uuid desc, event desc, distinct_id desc
      limit ${filter.limit}::bigint`,
  );
}

/** The next events in order of uuid, after `after`. */
export function loadEventIds(
  db: Queryable,
  projectId: number,
  after: EventId | undefined,
  limit: number,
): Promise<EventId[]> {
  // The first condition follows from the second: it is what Postgres looks up in the index.
  const next =
    after === undefined
      ? sql`true`
      : sql`uuid >= ${after.uuid}::uuid and (uuid, event, distinct_id, timestamp) >
          (${after.uuid}::uuid, ${after.event}, ${after.distinctId}, ${after.timestamp}::timestamptz)`;
  return runSql<EventId>(
    db,
    sql`select uuid, event, distinct_id as "distinctId", timestamp from events
      where project_id = ${projectId} and ${next}
      order by uuid, event, distinct_id, timestamp limit ${limit}::bigint`,
  );
}
