import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { ACTOR, type EventScope, eventsWhere, findBucket, matchEntity, runFacts } from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { RetentionQuery } from './model.ts';

export interface RetentionPoint {
  /** Bucket of the target event, from 1. */
  readonly row: number;
  /** Buckets between the target event and the return; 0 is the row itself. */
  readonly later: number;
  readonly people: number;
}

export function loadRetention(
  tx: Queryable,
  scope: EventScope,
  buckets: Buckets,
  query: RetentionQuery,
): Promise<RetentionPoint[]> {
  return runFacts(
    tx,
    sql`select "row", later, count(*) as people from (${retentionFacts(scope, buckets, query)}) as facts
      group by "row", later`,
  );
}

/** One fact for a person, a row they are in and a bucket they were there again; `later` 0 is in each row. */
function retentionFacts(scope: EventScope, buckets: Buckets, query: RetentionQuery): Sql {
  const { target, returning, firstTime } = query;
  const bucket = (time: Sql) => findBucket(time, buckets.starts);
  const targets = firstTime
    ? sql`select actor, ${bucket(sql`first`)} as bucket
        from (select ${ACTOR} as actor, min(e.timestamp) as first
          ${eventsWhere(scope, { ...buckets, from: '-infinity' }, matchEntity(scope, target))} group by 1) as firsts
        where first >= ${buckets.from}::timestamptz`
    : sql`select distinct ${ACTOR} as actor, ${bucket(sql`e.timestamp`)} as bucket
        ${eventsWhere(scope, buckets, matchEntity(scope, target))}`;
  return sql`with targets as materialized (${targets}),
      returns as (
        select distinct ${ACTOR} as actor, ${bucket(sql`e.timestamp`)} as bucket
        ${eventsWhere(scope, buckets, matchEntity(scope, returning))})
    select t.actor, t.bucket as "row", 0 as later from targets t
    union all
    select t.actor, t.bucket, r.bucket - t.bucket
    from targets t join returns r on r.actor = t.actor and r.bucket > t.bucket`;
}
