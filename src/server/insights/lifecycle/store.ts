import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { collectPersons } from '../collect-persons.ts';
import type { Entity } from '../entity.ts';
import { type EventScope, findBucket, matchEntity, runFacts } from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { LifecycleStatus } from './model.ts';

export interface LifecyclePoint {
  readonly status: LifecycleStatus;
  /** From 1; the interval before the range has the first bucket. */
  readonly bucket: number;
  readonly people: number;
}

/** `buckets` begin one interval before the range, which shows who returns in its first. */
export async function loadLifecycle(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  entity: Entity,
): Promise<LifecyclePoint[]> {
  const active = await collectActive(steps, scope, buckets, entity);
  const counted = await steps.derive(
    [active],
    (
      of,
    ) => sql`select status, bucket, count(*) as people from (${lifecycleFacts(of(active), buckets)}) as facts
      group by status, bucket`,
  );
  return runFacts(
    tx,
    sql`select status, bucket, sum(people)::bigint as people from ${counted} as counted group by status, bucket`,
  );
}

/** The persons that one number of the lifecycle counts. */
export async function findInLifecycle(
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  entity: Entity,
  point: { readonly status: LifecycleStatus; readonly bucket: number },
): Promise<Sql> {
  const active = await collectActive(steps, scope, buckets, entity);
  return steps.derive(
    [active],
    (of) => sql`select actor from (${lifecycleFacts(of(active), buckets)}) as facts
      where status = ${point.status}::text and bucket = ${point.bucket}::integer`,
  );
}

const collectActive = (steps: Steps, scope: EventScope, buckets: Buckets, entity: Entity): Promise<Sql> =>
  collectPersons(steps, scope, {
    span: buckets,
    match: (within) => matchEntity(within, entity),
    starts: buckets.starts,
    moment: 'first',
  });

/**
 * One fact for a person and a bucket they were active in, or newly inactive: `new` in the bucket that the
 * person was created in, `returning` after an active one, `resurrecting` otherwise, `dormant` in the bucket
 * right after an active one.
 */
function lifecycleFacts(activeIn: Sql, buckets: Buckets): Sql {
  return sql`with active as (
      select actor, bucket, ${findBucket(sql`min(created_at)`, buckets.starts)} as created
      from ${activeIn} as parts group by actor, bucket),
    neighbours as (
      select actor, bucket, created, lag(bucket) over each as before, lead(bucket) over each as after
      from active window each as (partition by actor order by bucket))
    select actor, bucket, case when bucket = created then 'new'
        when bucket = before + 1 then 'returning' else 'resurrecting' end as status
      from neighbours where bucket > 1
    union all
    select actor, bucket + 1, 'dormant' from neighbours
      where bucket < ${buckets.starts.length}::integer and after is distinct from bucket + 1`;
}
