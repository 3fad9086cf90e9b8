import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { selectValue, withSessions } from '../breakdown-store.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  findBucket,
  matchEntity,
  runFacts,
  type Span,
} from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { RetentionQuery } from './model.ts';

export interface RetentionPoint {
  /** Value of the breakdown, null for all beyond its limit; without a breakdown always ''. */
  readonly value: string | null;
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
  const facts = await collectFacts(tx, steps, scope, buckets, query, undefined);
  const counted = await steps.derive(
    facts.sources,
    (of) => sql`select value, "row", later, count(*) as people from (${facts.select(of)}) as facts
      group by value, "row", later`,
  );
  return runFacts(
    tx,
    sql`select value, "row", later, sum(people)::bigint as people from ${counted} as counted
      group by value, "row", later`,
  );
}

/** One row of a retention; `value` as of a row, undefined without a breakdown. */
export interface RetentionPart {
  readonly row: number;
  readonly value: string | null | undefined;
}

/** The persons of one row, with the buckets from there on: whether they were there. */
export async function findRetained(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: RetentionQuery,
  { row, value }: RetentionPart,
): Promise<Sql> {
  const facts = await collectFacts(tx, steps, scope, buckets, query, value);
  const most = buckets.starts.length - row;
  const ofValue =
    value === undefined ? sql`true` : value === null ? sql`value is null` : sql`value = ${value}::text`;
  return steps.derive(
    facts.sources,
    (of) => sql`select actor, null::float8 as value, array(
        select (later = any(there))::integer from generate_series(0, ${most}::integer) as l (later) order by later
      ) as appearances
      from (
        select actor, array_agg(later) as there from (${facts.select(of)}) as facts
        where "row" = ${row}::integer and ${ofValue} group by actor) as retained`,
  );
}

interface CollectedFacts {
  readonly sources: readonly Sql[];
  readonly select: (of: (source: Sql) => Sql) => Sql;
}

/** `wanted`: the one value that matters, which spares the greatest; undefined: all. */
async function collectFacts(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: RetentionQuery,
  wanted: string | null | undefined,
): Promise<CollectedFacts> {
  const { target, returning, breakdown } = query;
  const since = query.firstTime ? { ...buckets, from: '-infinity' } : buckets;
  const own = await withSessions(steps, scope, since, breakdown);
  const targets = await steps.collect(own, (within) => {
    const condition = matchEntity(within, target);
    const value = selectValue(within, breakdown);
    return query.firstTime
      ? firstFacts(steps, within, since, condition, value)
      : activeFacts(steps, within, buckets, condition, value);
  });
  const returns = await steps.collect(scope, (within) =>
    activeFacts(steps, within, buckets, matchEntity(within, returning), sql`''`),
  );
  const needsGreatest = breakdown !== undefined && (wanted === undefined || wanted === null);
  const greatest = needsGreatest
    ? await loadGreatest(tx, steps, targets, buckets, query, breakdown.limit)
    : undefined;
  return {
    sources: [targets, returns],
    select: (of) => retentionFacts(of(targets), of(returns), buckets, query, greatest),
  };
}

/** The values whose rows hold most persons. */
async function loadGreatest(
  tx: Queryable,
  steps: Steps,
  targets: Sql,
  buckets: Buckets,
  query: RetentionQuery,
  limit: number,
): Promise<readonly string[]> {
  const sizes = await steps.derive(
    [targets],
    (of) => sql`select value, count(distinct actor) as persons
      from (${mergeTargets(of(targets), buckets, query, sql`value`)}) as targets group by value`,
  );
  const rows = await runFacts<{ value: string }>(
    tx,
    sql`select value from ${sizes} as sizes group by value
      order by sum(persons) desc, value = '', value collate "C" limit ${limit}::integer`,
  );
  return rows.map(({ value }) => value);
}

/** A fact for a person, a bucket they were active in and a value; one of each where facts are kept between steps. */
const activeFacts = (
  { areSeveral }: Steps,
  scope: EventScope,
  buckets: Buckets,
  condition: Sql,
  value: Sql,
): Sql =>
  sql`select ${areSeveral ? sql`distinct` : sql``} ${ACTOR} as actor, ${findBucket(sql`e.timestamp`, buckets.starts)} as bucket, ${value} as value
    ${eventsWhere(scope, buckets, condition)}`;

/** A fact for a person and a value: when they were active; the first time alone, where facts are kept between steps. */
function firstFacts({ areSeveral }: Steps, scope: EventScope, span: Span, condition: Sql, value: Sql): Sql {
  const facts = sql`select ${ACTOR} as actor, e.timestamp as first, ${value} as value
    ${eventsWhere(scope, span, condition)}`;
  if (!areSeveral) return facts;
  return sql`select actor, value, min(first) as first from (${facts}) as each_event group by actor, value`;
}

/** Each person once for a bucket, or for their first one, and a `label`. */
const mergeTargets = (
  targetsIn: Sql,
  { starts, from }: Buckets,
  { firstTime }: RetentionQuery,
  label: Sql,
): Sql =>
  firstTime
    ? sql`select actor, ${label} as value, ${findBucket(sql`min(first)`, starts)} as bucket
        from ${targetsIn} as parts group by 1, 2 having min(first) >= ${from}::timestamptz`
    : sql`select distinct actor, ${label} as value, bucket from ${targetsIn} as parts`;

/** One fact for a person, a value, a row they are in and a bucket they were there again; `later` 0 is in each row. */
function retentionFacts(
  targetsIn: Sql,
  returnsIn: Sql,
  buckets: Buckets,
  query: RetentionQuery,
  greatest: readonly string[] | undefined,
): Sql {
  const label =
    greatest === undefined ? sql`value` : sql`case when value = any(${greatest}::text[]) then value end`;
  return sql`with targets as materialized (${mergeTargets(targetsIn, buckets, query, label)}),
      returns as (select distinct actor, bucket from ${returnsIn} as parts)
    select t.actor, t.value, t.bucket as "row", 0 as later from targets t
    union all
    select t.actor, t.value, t.bucket, r.bucket - t.bucket
    from targets t join returns r on r.actor = t.actor and r.bucket > t.bucket`;
}
