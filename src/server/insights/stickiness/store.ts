import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { Entity } from '../entity.ts';
import { ACTOR, type EventScope, eventsWhere, findBucket, matchEntity, runFacts } from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';

export interface StickinessPoint {
  /** Number of buckets that the persons were active in. */
  readonly active: number;
  readonly people: number;
}

export async function loadStickiness(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  entity: Entity,
): Promise<StickinessPoint[]> {
  const active = await collectActive(steps, scope, buckets, entity);
  const counted = await steps.derive(
    [active],
    (of) =>
      sql`select active, count(*) as people from (${countBuckets(steps, of(active))}) as actors group by active`,
  );
  return runFacts(
    tx,
    sql`select active, sum(people)::bigint as people from ${counted} as counted group by active`,
  );
}

/** The persons who were active in exactly so many buckets. */
export async function findActiveIn(
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  entity: Entity,
  bucketCount: number,
): Promise<Sql> {
  const active = await collectActive(steps, scope, buckets, entity);
  return steps.derive(
    [active],
    (of) =>
      sql`select actor from (${countBuckets(steps, of(active))}) as actors where active = ${bucketCount}::integer`,
  );
}

const collectActive = (steps: Steps, scope: EventScope, buckets: Buckets, entity: Entity): Promise<Sql> =>
  steps.collect(scope, (within) => activeFacts(within, buckets, entity));

/**
 * Several steps may each have found the same fact. At once there is one of each: to tell them apart again, the buckets of
 * every person would be sorted by themselves.
 */
const countBuckets = ({ areSeveral }: Steps, active: Sql): Sql =>
  sql`select actor, ${areSeveral ? sql`count(distinct bucket)` : sql`count(*)`} as active
    from ${active} as facts group by actor`;

/** One fact of a step for a person and a bucket they were active in. */
const activeFacts = (scope: EventScope, buckets: Buckets, entity: Entity): Sql =>
  sql`select distinct ${ACTOR} as actor, ${findBucket(sql`e.timestamp`, buckets.starts)} as bucket
    ${eventsWhere(scope, buckets, matchEntity(scope, entity))}`;
