import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { Entity } from '../entity.ts';
import { ACTOR, type EventScope, eventsWhere, findBucket, matchEntity, runFacts } from '../events-store.ts';
import type { Buckets } from '../intervals.ts';

export interface StickinessPoint {
  /** Number of buckets that the persons were active in. */
  readonly active: number;
  readonly people: number;
}

export function loadStickiness(
  tx: Queryable,
  scope: EventScope,
  buckets: Buckets,
  entity: Entity,
): Promise<StickinessPoint[]> {
  return runFacts(
    tx,
    sql`select active, count(*) as people from (${stickinessFacts(scope, buckets, entity)}) as facts
      group by active`,
  );
}

/** One fact a person: the number of buckets they were active in. */
const stickinessFacts = (scope: EventScope, buckets: Buckets, entity: Entity): Sql =>
  sql`select ${ACTOR} as actor, count(distinct ${findBucket(sql`e.timestamp`, buckets.starts)}) as active
    ${eventsWhere(scope, buckets, matchEntity(scope, entity))} group by 1`;
