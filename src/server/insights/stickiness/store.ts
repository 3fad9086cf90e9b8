import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../query/sql.ts';
import { ACTOR, bucketOf, type EventScope, eventsWhere, isOf, runFacts } from '../events-store.ts';
import type { Entity } from '../insight-query.ts';
import type { Buckets } from '../intervals.ts';

export interface StickinessPoint {
  /** Number of buckets that people were active in. */
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
export const stickinessFacts = (scope: EventScope, buckets: Buckets, entity: Entity): Sql =>
  sql`select ${ACTOR} as actor, count(distinct ${bucketOf(sql`e.timestamp`, buckets.starts)}) as active
    ${eventsWhere(scope, buckets, isOf(scope, entity))} group by 1`;
