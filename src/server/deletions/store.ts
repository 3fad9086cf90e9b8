import type { Db, Queryable } from '../database/db.ts';
import { runSql, type Sql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';
import { toCoverAll } from './arrivals.ts';
import type { WantedDeletion } from './queue-deletion.ts';

/** `queued` until a run takes it up, `started` until nothing is left of its events, then `verified`. */
export const DELETION_STATES = ['queued', 'started', 'verified'] as const;
export type DeletionState = (typeof DELETION_STATES)[number];

export interface StoredDeletion {
  readonly id: number;
  readonly projectId: number;
  readonly personUuid: string;
  readonly distinctIdCount: number;
  readonly createdBy: number | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly deletedEvents: number;
  readonly verifiedAt: string | null;
  readonly lastError: string | null;
}

export async function insertDeletion(tx: Queryable, wanted: WantedDeletion): Promise<void> {
  await runSql(
    tx,
    sql`insert into deletions (project_id, person_uuid, distinct_ids, created_by, covers_until)
      values (${wanted.projectId}, ${wanted.personUuid}, ${wanted.distinctIds}::text[], ${wanted.userId},
        ${toCoverAll(wanted.projectId)})`,
  );
}

export async function sleep(tx: Queryable, ms: number): Promise<void> {
  await runSql(tx, sql`select pg_sleep(${ms}::double precision / 1000)`);
}

const COLUMNS = sql`id, project_id as "projectId", person_uuid as "personUuid",
  cardinality(distinct_ids) as "distinctIdCount", created_by as "createdBy", created_at as "createdAt",
  started_at as "startedAt", deleted_events as "deletedEvents", verified_at as "verifiedAt",
  last_error as "lastError"`;

const CONDITIONS: Readonly<Record<DeletionState | 'open', Sql>> = {
  queued: sql`verified_at is null and started_at is null`,
  started: sql`verified_at is null and started_at is not null`,
  verified: sql`verified_at is not null`,
  open: sql`verified_at is null`,
};

/** Newest first; `events` is what all that match have deleted so far. */
export async function loadDeletions(
  db: Queryable,
  filter: { readonly projectIds: readonly number[]; readonly state: DeletionState | 'open' | undefined },
  page: Page,
): Promise<{ count: number; events: number; deletions: StoredDeletion[] }> {
  const matching = sql`from deletions where project_id = any(${filter.projectIds}::integer[])
    and ${filter.state === undefined ? sql`true` : CONDITIONS[filter.state]}`;
  const [total] = await runSql<{ count: number; events: number }>(
    db,
    sql`select count(*) as count, coalesce(sum(deleted_events), 0)::bigint as events ${matching}`,
  );
  const deletions = await runSql<StoredDeletion>(
    db,
    sql`select ${COLUMNS} ${matching}
      order by id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, events: total?.events ?? 0, deletions };
}

/** When the oldest deletion that is not verified was queued; undefined: there is none. */
export async function loadOldestOpen(db: Queryable): Promise<string | undefined> {
  const [row] = await runSql<{ createdAt: string }>(
    db,
    sql`select created_at as "createdAt" from deletions where verified_at is null order by id limit 1`,
  );
  return row?.createdAt;
}

/** What a run needs to know of a deletion. */
export interface OpenDeletion {
  readonly id: number;
  readonly projectId: number;
  readonly distinctIds: readonly string[];
}

/** The next one that is not verified, in the order they were queued; of these projects, if they are given. */
export async function loadNextOpen(
  db: Queryable,
  afterId: number,
  projectIds: readonly number[] | undefined,
): Promise<OpenDeletion | undefined> {
  const ofProjects = projectIds === undefined ? sql`true` : sql`project_id = any(${projectIds}::integer[])`;
  const [row] = await runSql<OpenDeletion>(
    db,
    sql`select id, project_id as "projectId", distinct_ids as "distinctIds" from deletions
      where verified_at is null and id > ${afterId} and ${ofProjects} order by id limit 1`,
  );
  return row;
}

export async function markStarted(db: Queryable, id: number): Promise<void> {
  await runSql(
    db,
    sql`update deletions set started_at = clock_timestamp()
      where id = ${id} and started_at is null`,
  );
}

export async function markVerified(db: Queryable, id: number): Promise<void> {
  await runSql(
    db,
    sql`update deletions set verified_at = clock_timestamp(), last_error = null
      where id = ${id} and verified_at is null`,
  );
}

export async function markFailed(db: Queryable, id: number, error: string): Promise<void> {
  await runSql(db, sql`update deletions set last_error = ${error} where id = ${id} and verified_at is null`);
}

export interface IdWithEvents {
  readonly distinctId: string;
  /** Its events to delete, counted up to the limit of the look. */
  readonly events: number;
}

/** Null once it is verified: what another run of it still does must not reach events that came later. */
const coveredBy = ({ id }: OpenDeletion): Sql =>
  sql`(select covers_until from deletions where id = ${id} and verified_at is null)`;

/** Those of the ids that still have events to delete. One look into the index for each. */
export function findIdsWithEvents(
  db: Queryable,
  deletion: OpenDeletion,
  distinctIds: readonly string[],
  limit: number,
): Promise<IdWithEvents[]> {
  return runSql<IdWithEvents>(
    db,
    sql`select who.id as "distinctId", found.events from unnest(${distinctIds}::text[]) as who (id)
      cross join lateral (
        select count(*) as events from (
          select from events e where e.project_id = ${deletion.projectId} and e.distinct_id = who.id
            and e.received_at <= ${coveredBy(deletion)}
          limit ${limit}::integer
        ) as seen
      ) as found
      where found.events > 0`,
  );
}

/** An arbitrary constant that separates this lock from other advisory locks. */
const DELETION_LOCK = 1_684_368_482;

/** Everything that deletes events of a project takes it, until the end of its transaction. */
async function lockDeletions(tx: Queryable, projectId: number): Promise<void> {
  await runSql(tx, sql`select pg_advisory_xact_lock(${DELETION_LOCK}::integer, ${projectId}::integer)`);
}

export interface DeletedBatch {
  readonly count: number;
  /** Time of the last event that went, in Postgres' own words; null when none did. */
  readonly newest: string | null;
}

/**
 * Deletes the oldest events of each id, at most `limit` and none older than `from`, in a transaction of its
 * own. Concurrent runs alternate, a batch each, so that neither waits for rows that the other has
 * locked; ingestion adds events without waiting. The count moves with the batch: after a crash it is exact.
 */
export function deleteBatch(
  db: Db,
  deletion: OpenDeletion,
  distinctIds: readonly string[],
  from: string,
  limit: number,
): Promise<DeletedBatch> {
  return db.transaction(async (tx) => {
    await lockDeletions(tx, deletion.projectId);
    // By row address: a join back over the key reads the whole table wherever statistics are missing.
    const [batch] = await runSql<DeletedBatch>(
      tx,
      sql`with gone as (
          delete from events where ctid = any (array(
            select found.ctid from unnest(${distinctIds}::text[]) as who (id)
            cross join lateral (
              select e.ctid from events e
              where e.project_id = ${deletion.projectId} and e.distinct_id = who.id
                and e.timestamp >= ${from}::timestamptz
                and e.received_at <= ${coveredBy(deletion)}
              order by e.timestamp limit ${limit}::integer
            ) as found))
          returning timestamp
        )
        select count(*) as count, max(timestamp)::text as newest from gone`,
    );
    if (batch === undefined) throw new Error('count over deleted events returned no row');
    if (batch.count > 0) {
      await runSql(
        tx,
        sql`update deletions set deleted_events = deleted_events + ${batch.count} where id = ${deletion.id}`,
      );
    }
    return batch;
  });
}

/** Whether a deletion of the project is open, or was when this transaction began. */
export async function wasOpen(tx: Queryable, projectId: number): Promise<boolean> {
  const rows = await runSql(
    tx,
    sql`select from deletions
      where project_id = ${projectId}
        and (verified_at is null or verified_at >= transaction_timestamp())
      limit 1`,
  );
  return rows.length > 0;
}

/**
 * Deletes those of the events that an open deletion takes anyway. Each is counted for the oldest deletion
 * that covers it, which would have run first.
 */
export async function deleteDoomed(
  tx: Queryable,
  projectId: number,
  uuids: readonly string[],
): Promise<void> {
  await lockDeletions(tx, projectId);
  await runSql(
    tx,
    sql`with doomed as (
        select found.ctid as place, min(waiting.id) as deletion_id
        from unnest(${uuids}::uuid[]) as sent (uuid)
        cross join lateral (
          select e.ctid, e.distinct_id, e.received_at from events e
          where e.project_id = ${projectId} and e.uuid = sent.uuid offset 0
        ) as found
        join (
          select d.id, d.covers_until, who.id as distinct_id
          from deletions d cross join unnest(d.distinct_ids) as who (id)
          where d.project_id = ${projectId} and d.verified_at is null
        ) as waiting
          on waiting.distinct_id = found.distinct_id and found.received_at <= waiting.covers_until
        group by found.ctid
      ), gone as (
        delete from events where ctid = any (array(select place from doomed)) returning ctid as place
      )
      update deletions set deleted_events = deleted_events + counted.events
      from (
        select doomed.deletion_id, count(*) as events from gone join doomed using (place)
        group by doomed.deletion_id
      ) as counted
      where id = counted.deletion_id`,
  );
}

/**
 * Frees the disk space of deleted rows. A server's autovacuum does so by itself; the embedded database has
 * none, and would keep every byte for ever (half a second for 300,000 events).
 */
export async function reclaimSpace(db: Db): Promise<void> {
  if (db.kind === 'pglite') await runSql(db, sql`vacuum events`);
}
