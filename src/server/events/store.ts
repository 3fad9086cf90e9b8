import type { Db, Queryable } from '../database/db.ts';
import { allOf, runSql, type Sql, sql } from '../database/sql.ts';
import { readInBlocks } from '../query/over-blocks.ts';

export interface EventCount {
  readonly event: string;
  readonly count: number;
}

/** Who imports waits for it: it is generous. */
const COUNT_LIMIT_MS = 300_000;

/** Most frequent first. */
export async function loadEventCounts(db: Db, projectId: number): Promise<EventCount[]> {
  const select = (place: Sql) =>
    sql`select e.event, count(*) as count from events e where e.project_id = ${projectId} and ${place}
      group by e.event`;
  const counts = new Map<string, number>();
  const take = (rows: readonly EventCount[]) => {
    for (const { event, count } of rows) counts.set(event, (counts.get(event) ?? 0) + count);
  };
  if (db.kind === 'pglite')
    await readInBlocks(db, { table: 'events', select, take, budgetMs: COUNT_LIMIT_MS });
  else take(await db.transaction((tx) => runSql<EventCount>(tx, select(sql`true`)), 'question'));
  return [...counts]
    .map(([event, count]) => ({ event, count }))
    .sort((a, b) => b.count - a.count || Buffer.compare(Buffer.from(a.event), Buffer.from(b.event)));
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

/** Rows of one statement: requests come between two of them. */
const STEP_ROWS = 1000;

/**
 * Newest first; ties in order of the rest, so that a page starts exactly where the last one ended. A long page is
 * read in steps, each along an index: by time, or by time of a name or of an id.
 */
export async function loadEvents(
  db: Db,
  projectId: number,
  filter: EventFilter,
  stepRows: number = STEP_ROWS,
): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  while (found.length < filter.limit) {
    const limit = Math.min(stepRows, filter.limit - found.length);
    const step = await loadStep(db, projectId, { ...filter, after: found.at(-1) ?? filter.after, limit });
    found.push(...step);
    if (step.length < limit) break;
  }
  return found;
}

function loadStep(db: Db, projectId: number, filter: EventFilter): Promise<StoredEvent[]> {
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
  const statement = sql`select uuid, event, distinct_id as "distinctId", timestamp, properties from events
    where ${allOf(conditions)} order by timestamp desc, uuid desc, event desc, distinct_id desc
    limit ${filter.limit}::bigint`;
  return db.transaction((tx) => runSql<StoredEvent>(tx, statement), 'question');
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
