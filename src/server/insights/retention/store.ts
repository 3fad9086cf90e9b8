import type { Queryable } from '../../database/db.ts';
import { allOf, type Sql, sql } from '../../database/sql.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  findBucket,
  matchEntity,
  runFacts,
  type Span,
  selectText,
} from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { RetentionQuery } from './model.ts';

export interface RetentionPoint {
  /** Bucket of the target event, from 1. */
  readonly row: number;
  /** Buckets between the target event and the return; 0 is the row itself. */
  readonly later: number;
  readonly people: number;
}

export async function loadRetention(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: RetentionQuery,
): Promise<RetentionPoint[]> {
  const facts = await collectFacts(steps, scope, buckets, query);
  const counted = await steps.derive(
    facts.sources,
    (of) =>
      sql`select "row", later, count(*) as people from (${facts.select(of)}) as facts group by "row", later`,
  );
  return runFacts(
    tx,
    sql`select "row", later, sum(people)::bigint as people from ${counted} as counted group by "row", later`,
  );
}

/** The persons of one row, with the buckets from there on: whether they were there. */
export async function findRetained(
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: RetentionQuery,
  row: number,
): Promise<Sql> {
  const facts = await collectFacts(steps, scope, buckets, query);
  const most = buckets.starts.length - row;
  return steps.derive(
    facts.sources,
    (of) => sql`select actor, null::float8 as value, array(
        select (later = any(there))::integer from generate_series(0, ${most}::integer) as l (later) order by later
      ) as appearances
      from (
        select actor, array_agg(later) as there from (${facts.select(of)}) as facts
        where "row" = ${row}::integer group by actor) as retained`,
  );
}

interface CollectedFacts {
  readonly sources: readonly Sql[];
  readonly select: (of: (source: Sql) => Sql) => Sql;
}

async function collectFacts(
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: RetentionQuery,
): Promise<CollectedFacts> {
  const { target, returning } = query;
  const since = query.firstTime ? { ...buckets, from: '-infinity' } : buckets;
  const { ofValue } = query;
  const hasValue =
    ofValue === undefined ? sql`true` : sql`${selectText(ofValue.property)} = ${ofValue.value}::text`;
  const targets = await steps.collect(scope, (within) => {
    const condition = allOf([matchEntity(within, target), hasValue]);
    return query.firstTime ? firstFacts(within, since, condition) : activeFacts(within, buckets, condition);
  });
  const returns = await steps.collect(scope, (within) =>
    activeFacts(within, buckets, matchEntity(within, returning)),
  );
  return {
    sources: [targets, returns],
    select: (of) => retentionFacts(of(targets), of(returns), buckets, query),
  };
}

/** One fact for a person and a bucket they were active in. */
const activeFacts = (scope: EventScope, buckets: Buckets, condition: Sql): Sql =>
  sql`select distinct ${ACTOR} as actor, ${findBucket(sql`e.timestamp`, buckets.starts)} as bucket
    ${eventsWhere(scope, buckets, condition)}`;

/** One fact a person: when they were first active. */
const firstFacts = (scope: EventScope, span: Span, condition: Sql): Sql =>
  sql`select ${ACTOR} as actor, min(e.timestamp) as first
    ${eventsWhere(scope, span, condition)} group by 1`;

/** One fact for a person, a row they are in and a bucket they were there again; `later` 0 is in each row. */
function retentionFacts(
  targetsIn: Sql,
  returnsIn: Sql,
  buckets: Buckets,
  { firstTime }: RetentionQuery,
): Sql {
  const targets = firstTime
    ? sql`select actor, ${findBucket(sql`min(first)`, buckets.starts)} as bucket from ${targetsIn} as parts
        group by actor having min(first) >= ${buckets.from}::timestamptz`
    : sql`select distinct actor, bucket from ${targetsIn} as parts`;
  return sql`with targets as materialized (${targets}),
      returns as (select distinct actor, bucket from ${returnsIn} as parts)
    select t.actor, t.bucket as "row", 0 as later from targets t
    union all
    select t.actor, t.bucket, r.bucket - t.bucket
    from targets t join returns r on r.actor = t.actor and r.bucket > t.bucket`;
}
