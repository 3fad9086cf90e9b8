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
  const active = await steps.collect(scope, (within) => activeFacts(within, buckets, entity));
  const counted = await steps.derive(
    [active],
    (of) => sql`select active, count(*) as people
      from (select actor, count(distinct bucket) as active from ${of(active)} as facts group by actor) as actors
      group by active`,
  );
  return runFacts(
    tx,
    sql`select active, sum(people)::bigint as people from ${counted} as counted group by active`,
  );
}

/** One fact for a person and a bucket they were active in. */
const activeFacts = (scope: EventScope, buckets: Buckets, entity: Entity): Sql =>
  sql`select distinct ${ACTOR} as actor, ${findBucket(sql`e.timestamp`, buckets.starts)} as bucket
    ${eventsWhere(scope, buckets, matchEntity(scope, entity))}`;
