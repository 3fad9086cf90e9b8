import { DAY_MS } from '../../../lib/day.ts';
import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { Breakdown, Measure, PropertyMath, Series } from '../entity.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  findBucket,
  matchEntity,
  runFacts,
  type Span,
  selectNumber,
  selectText,
} from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';

export interface TrendPoint {
  /** Bucket, from 1. */
  readonly bucket: number;
  /** Value of the breakdown, null for all beyond its limit; without a breakdown always ''. */
  readonly value: string | null;
  readonly total: number;
}

export interface TrendRequest {
  readonly series: Series;
  readonly buckets: Buckets;
  readonly breakdown: Breakdown | undefined;
  /** Counts each person in the first bucket they are seen in, as cumulative lines need it. */
  readonly firstOnly: boolean;
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
  const facts = await steps.collect(scope, (within) =>
    trendFacts(within, days === undefined ? request : lookBack(request, days)),
  );
  const select = (from: Sql, greatest?: readonly string[]) =>
    days === undefined ? totals(from, request, greatest) : activePeople(from, request, days, greatest);
  const counted =
    COUNTS_PERSONS.has(math) && steps.areSeveral
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

async function loadMostPersons(
  tx: Queryable,
  steps: Steps,
  facts: Sql,
  breakdown: Breakdown,
): Promise<readonly string[]> {
  const sizes = await steps.derive(
    [facts],
    (of) => sql`select value, count(distinct actor) as persons from ${of(facts)} as parts group by value`,
  );
  const rows = await runFacts<{ value: string }>(
    tx,
    sql`select value from ${sizes} as sizes group by value
      order by sum(persons) desc nulls last, value = '', value collate "C" limit ${breakdown.limit}::integer`,
  );
  return rows.map(({ value }) => value);
}

/** One number of a trend. */
export interface TrendNumber {
  /** Of the trend that the number is in: `from` and `until` are those of the whole range. */
  readonly request: TrendRequest;
  /** The bucket of the number, from 1. */
  readonly bucket: number;
  /** Value of the breakdown; null: all beyond its limit, undefined: every value. */
  readonly value: string | null | undefined;
}

/** The persons of a number with a `value` each: what they did, counted or measured as the series says. */
export async function findInTrend(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  number: TrendNumber,
): Promise<Sql> {
  const { request, value } = number;
  const span = spanOf(number);
  const isOther = value === null && request.breakdown !== undefined;
  // What is beyond the limit is known from the facts of all buckets only.
  const { from, until } = isOther ? lookBackAsCounted(request) : span;
  const reach = { ...request, buckets: { ...request.buckets, from, until } };
  const facts = await steps.collect(scope, (within) => trendFacts(within, reach));
  const greatest =
    isOther && request.breakdown !== undefined
      ? await loadGreatest(tx, steps, facts, request, request.breakdown)
      : [];
  const ofValue =
    value === undefined
      ? sql`true`
      : value === null
        ? sql`value <> all(${greatest}::text[])`
        : sql`value = ${value}::text`;
  const { math } = request.series.measure;
  const aggregate = COUNTS_PERSONS.has(math) ? AGGREGATES.total : AGGREGATES[math];
  return steps.derive(
    [facts],
    (of) => sql`select actor, (${aggregate})::float8 as value, null::integer[] as appearances
      from ${of(facts)} as parts
      where at >= ${span.from}::timestamptz and at < ${span.until}::timestamptz and ${ofValue} group by actor`,
  );
}

/** When the events happened that a number counts. */
function spanOf({ request, bucket }: TrendNumber): Span {
  const { series, buckets, firstOnly } = request;
  const end = buckets.ends[bucket - 1] ?? buckets.until;
  const until = end < buckets.until ? end : buckets.until;
  if (firstOnly) return { from: buckets.from, until };
  const days = ACTIVE_DAYS.get(series.measure.math);
  if (days !== undefined) return { from: daysBefore(end, days), until };
  const start = buckets.starts[bucket - 1] ?? buckets.from;
  return { from: start > buckets.from ? start : buckets.from, until };
}

function lookBackAsCounted(request: TrendRequest): Span {
  const days = ACTIVE_DAYS.get(request.series.measure.math);
  return days === undefined ? request.buckets : lookBack(request, days).buckets;
}

async function loadGreatest(
  tx: Queryable,
  steps: Steps,
  facts: Sql,
  { series }: TrendRequest,
  breakdown: Breakdown,
): Promise<readonly string[]> {
  const { math } = series.measure;
  if (COUNTS_PERSONS.has(math)) return loadMostPersons(tx, steps, facts, breakdown);
  const greatest = sql`select value from (${selectGreatest(facts, breakdown, AGGREGATES[math])}) as greatest`;
  return (await runFacts<{ value: string }>(tx, greatest)).map(({ value }) => value);
}

const selectGreatest = (facts: Sql, breakdown: Breakdown, aggregate: Sql): Sql =>
  sql`select value, value as label from ${facts} as parts group by value
    order by ${aggregate} desc nulls last, value = '', value collate "C" limit ${breakdown.limit}::integer`;

const COUNTS_PERSONS: ReadonlySet<Measure['math']> = new Set(['dau', 'weekly_active', 'monthly_active']);

const totals = (
  facts: Sql,
  { series, breakdown, firstOnly }: TrendRequest,
  greatest: readonly string[] | undefined,
): Sql => {
  const aggregate = AGGREGATES[series.measure.math];
  return sql`with ${labelled(facts, breakdown, aggregate, greatest)}
    select bucket, label as value, ${aggregate} as total
    from ${firstOnly ? FIRST_OF_EACH : sql`labelled`} group by bucket, label`;
};

/** The same request over the days before its range, too, in which somebody becomes active. */
function lookBack(request: TrendRequest, days: number): TrendRequest {
  const { ends, from } = request.buckets;
  return { ...request, buckets: { ...request.buckets, from: daysBefore(ends[0] ?? from, days) } };
}

const daysBefore = (time: string, days: number): string =>
  new Date(Date.parse(time) - days * DAY_MS).toISOString();

/** The days that somebody stays active for. */
const ACTIVE_DAYS: ReadonlyMap<string, number> = new Map([
  ['weekly_active', 7],
  ['monthly_active', 30],
]);

/** One fact an event: when, its bucket and value of the breakdown, who did it, and what is measured. */
function trendFacts(scope: EventScope, { series, buckets, breakdown }: TrendRequest): Sql {
  return sql`select e.timestamp as at, ${findBucket(sql`e.timestamp`, buckets.starts)} as bucket,
      ${breakdown ? selectText(breakdown) : sql`''`} as value, ${ACTOR} as actor,
      ${measured(series.measure)} as measured
    ${eventsWhere(scope, buckets, matchEntity(scope, series))}`;
}

const SESSION = { owner: 'event', key: '$session_id' } as const;

function measured(measure: Measure): Sql {
  if ('property' in measure) return selectNumber(measure.property);
  return measure.math === 'unique_session' ? sql`nullif(${selectText(SESSION)}, '')` : sql`null`;
}

const quantile = (share: number): Sql =>
  sql`percentile_cont(${share}::float8) within group (order by measured)`;

const AGGREGATES: Readonly<Record<Measure['math'], Sql>> = {
  total: sql`count(*)`,
  dau: sql`count(distinct actor)`,
  weekly_active: sql`count(distinct actor)`,
  monthly_active: sql`count(distinct actor)`,
  unique_session: sql`count(distinct measured)`,
  sum: sql`sum(measured)`,
  avg: sql`avg(measured)`,
  min: sql`min(measured)`,
  max: sql`max(measured)`,
  median: quantile(0.5),
  p90: quantile(0.9),
  p95: quantile(0.95),
  p99: quantile(0.99),
} satisfies Record<Measure['math'] | PropertyMath, Sql>;

const FIRST_OF_EACH = sql`(
  select min(bucket) as bucket, label, actor from labelled group by label, actor) as firsts`;

/**
 * CTE `labelled`: the facts, each with the value of the breakdown, or null where that is not among the
 * greatest, which may be known already.
 */
function labelled(
  facts: Sql,
  breakdown: Breakdown | undefined,
  aggregate: Sql,
  greatest: readonly string[] | undefined,
): Sql {
  if (breakdown === undefined) return sql`labelled as (select f.*, f.value as label from ${facts} f)`;
  if (greatest !== undefined) {
    return sql`labelled as (
      select f.*, case when f.value = any(${greatest}::text[]) then f.value end as label from ${facts} f)`;
  }
  return sql`facts as materialized (select * from ${facts} as parts),
    greatest_values as (${selectGreatest(sql`facts`, breakdown, aggregate)}),
    labelled as (select f.*, g.label from facts f left join greatest_values g on g.value = f.value)`;
}

/**
 * Persons who were active in the last days of each bucket. An event makes its person active from its own
 * bucket until the window is over or the next event takes over; each such stretch is one more at its first
 * bucket and one fewer after its last, which is less work than a row for each bucket it holds.
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
  return sql`with ${labelled(facts, breakdown, AGGREGATES.dau, greatest)},
    stretches as (
      select label, ${findBucket(sql`at`, ends)} + 1 as first,
        least(
          ${findBucket(sql`at + ${window}`, ends)},
          lead(${findBucket(sql`at`, ends)}) over (partition by actor, label order by at)) as last
      from labelled),
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
