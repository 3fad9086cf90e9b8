import type { Queryable } from '../database/db.ts';

export interface EventCount {
  readonly event: string;
  readonly count: number;
}

export function loadEventCounts(db: Queryable, projectId: number): Promise<EventCount[]> {
  return db.query<EventCount>(
    `select event, count(*) as count from events where project_id = $1
     group by event order by count(*) desc, event`,
    [projectId],
  );
}

export interface StoredEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinct_id: string;
  readonly timestamp: string;
  /** JSON text. */
  readonly properties: string;
}

export interface EventFilter {
  readonly distinctId?: string | undefined;
  /** uuid of a person, who has all events of all their ids. */
  readonly personUuid?: string | undefined;
  readonly event?: string | undefined;
  /** Position of the last event of the page before. */
  readonly after?: { readonly timestamp: string; readonly uuid: string } | undefined;
  readonly limit: number;
}

/** Newest first; ties in order of uuid, so that a page starts exactly where the last one ended. */
export function loadEvents(db: Queryable, projectId: number, filter: EventFilter): Promise<StoredEvent[]> {
  return db.query<StoredEvent>(
    `select uuid, event, distinct_id, timestamp, properties from events
     where project_id = $1
       and ($2::text is null or distinct_id = $2)
       and ($3::uuid is null or distinct_id in (
         select d.distinct_id from person_distinct_ids d join persons p on p.id = d.person_id
         where p.project_id = $1 and p.uuid = $3))
       and ($4::text is null or event = $4)
       and ($5::timestamptz is null or (timestamp, uuid) < ($5::timestamptz, $6::uuid))
     order by timestamp desc, uuid desc limit $7::bigint`,
    [
      projectId,
      filter.distinctId ?? null,
      filter.personUuid ?? null,
      filter.event ?? null,
      filter.after?.timestamp ?? null,
      filter.after?.uuid ?? null,
      filter.limit,
    ],
  );
}

export type EventId = Omit<StoredEvent, 'properties'>;

/** The next events in order of uuid, after `after`. */
export function loadEventIds(
  db: Queryable,
  projectId: number,
  after: string | undefined,
  limit: number,
): Promise<EventId[]> {
  return db.query<EventId>(
    `select uuid, event, distinct_id, timestamp from events
     where project_id = $1 and ($2::uuid is null or uuid > $2::uuid) order by uuid limit $3::bigint`,
    [projectId, after ?? null, limit],
  );
}
