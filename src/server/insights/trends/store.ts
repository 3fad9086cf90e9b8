import type { Queryable } from '../../database/db.ts';
import { joinSql, type Sql, sql } from '../../database/sql.ts';
import type { Breakdown } from '../entity.ts';
import { type EventScope, findBucket, runFacts } from '../events-store.ts';
import type { Steps } from '../steps.ts';
import {
  ACTIVE_DAYS,
  AGGREGATES,
  COUNTS_PERSONS,
  collectFacts,
  collectLastMoments,
  loadMostPersons,
  lookBack,
  selectGreatest,
  type TrendRequest,
} from './facts.ts';

export interface TrendPoint {
  /** Bucket, from 1. */
  readonly bucket: number;
  /** Value of the breakdown, null for all beyond its limit; without a breakdown always ''. */
  readonly value: string | null;
  readonly total: number;
}

/** What a series counts, by bucket and value of the breakdown. Empty buckets have no row. */
export async function loadTrend(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  request: TrendRequest,
): Promise<TrendPoint[]> {
  const { math } = request.series.measure;
  const days = ACTIVE_DAYS.get(math);
  const wanted = days === undefined ? request : lookBack(request, days);
  const countsPersons = COUNTS_PERSONS.has(math);
  const facts = await (countsPersons ? collectLastMoments : collectFacts)(steps, scope, wanted);
  const select = (from: Sql, greatest?: readonly string[]) =>
    days === undefined ? totals(from, request, greatest) : activePeople(from, request, days, greatest);
  const counted =
    countsPersons && steps.areSeveral
      ? await countPersons(tx, steps, facts, request.breakdown, select)
      : sql`(${select(facts)})`;
  return runFacts(
    tx,
    sql`select bucket, value, sum(total)::float8 as total from ${counted} as counted group by bucket, value`,
  );
}

/** Persons are counted some at a time, once it is known which values of the breakdown are the greatest. */
async function countPersons(
  tx: Queryable,
  steps: Steps,
  facts: Sql,
  breakdown: Breakdown | undefined,
  select: (from: Sql, greatest?: readonly string[]) => Sql,
): Promise<Sql> {
  if (breakdown === undefined) return steps.derive([facts], (of) => select(of(facts)));
  const greatest = await loadMostPersons(tx, steps, facts, breakdown);
  return steps.derive([facts], (of) => select(of(facts), greatest));
}

const totals = (
  facts: Sql,
  { series, breakdown, firstOnly }: TrendRequest,
  greatest: readonly string[] | undefined,
): Sql => {
  const aggregate = AGGREGATES[series.measure.math];
  const { ctes, rows } = label(facts, breakdown, aggregate, greatest);
  const counted = firstOnly
    ? sql`(select min(bucket) as bucket, label, actor from ${rows} as labelled group by label, actor)`
    : rows;
  return sql`${ctes.length === 0 ? sql`` : sql`with ${joinSql(ctes, ', ')}`}
    select bucket, label as value, ${aggregate} as total from ${counted} as counted group by bucket, label`;
};

/**
 * The facts, each with a `label`: the value of the breakdown, or null where that is not among the greatest, which may be
 * known already. A CTE of facts that read properties would be read by one process alone.
 */
function label(
  facts: Sql,
  breakdown: Breakdown | undefined,
  aggregate: Sql,
  greatest: readonly string[] | undefined,
): { readonly ctes: readonly Sql[]; readonly rows: Sql } {
  if (breakdown === undefined) return { ctes: [], rows: sql`(select f.*, f.value as label from ${facts} f)` };
  if (greatest !== undefined) {
    const value = sql`case when f.value = any(${greatest}::text[]) then f.value end`;
    return { ctes: [], rows: sql`(select f.*, ${value} as label from ${facts} f)` };
  }
  return {
    ctes: [
      sql`facts as materialized (select * from ${facts} as parts)`,
      sql`greatest_values as (${selectGreatest(sql`facts`, breakdown, aggregate)})`,
    ],
    rows: sql`(select f.*, g.label from facts f left join greatest_values g on g.value = f.value)`,
  };
}

/**
 * Persons who were active in the last days of each bucket. An event makes its person active from its own
 * bucket until the window is over or the next event takes over, so that the last event of a bucket is all that
 * counts; each such stretch is one more at its first bucket and one fewer after its last, which is less work than a
 * row for each bucket it holds.
 */
function activePeople(
  facts: Sql,
  { buckets, breakdown }: TrendRequest,
  days: number,
  greatest: readonly string[] | undefined,
): Sql {
  const { ends } = buckets;
  // Not days, which the database would count in a zone of its own.
  const window = sql`${24 * days}::integer * interval '1 hour'`;
  const { ctes, rows } = label(facts, breakdown, AGGREGATES.dau, greatest);
  const active = sql`active as (
    select label, actor, ${findBucket(sql`at`, ends)} + 1 as first, max(at) as at
    from ${rows} as labelled group by 1, 2, 3)`;
  return sql`with ${joinSql([...ctes, active], ', ')},
    stretches as (
      select label, first,
        least(
          ${findBucket(sql`at + ${window}`, ends)},
          lead(first - 1) over (partition by actor, label order by first)) as last
      from active),
    changes as (
      select first as bucket, label, 1 as change from stretches where first <= last
      union all
      select last + 1, label, -1 from stretches where first <= last
      union all
      select bucket, label, 0
      from (select distinct label from stretches) l, generate_series(1, ${ends.length}::integer) as b (bucket))
    select bucket, label as value, (sum(sum(change)) over (partition by label order by bucket))::integer as total
    from changes where bucket <= ${ends.length}::integer group by bucket, label`;
}
