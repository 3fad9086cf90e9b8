import { DAY_MS } from '../../../lib/day.ts';
import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { selectValue, withSessions } from '../breakdown-store.ts';
import { collectPersons } from '../collect-persons.ts';
import type { Breakdown, Measure, PropertyMath, Series } from '../entity.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  findBucket,
  matchEntity,
  READ_HERE,
  runFacts,
  type Span,
  selectNumeric,
  selectText,
  toNumber,
} from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';

export interface TrendRequest {
  readonly series: Series;
  readonly buckets: Buckets;
  readonly breakdown: Breakdown | undefined;
  /** Counts each person in the first bucket they are seen in, as cumulative lines need it. */
  readonly firstOnly: boolean;
}

/** `whole`: the span of the trend, where the request is about a part of it; sessions are those of the whole. */
export async function collectFacts(
  steps: Steps,
  scope: EventScope,
  request: TrendRequest,
  whole: Span = request.buckets,
): Promise<Sql> {
  const own = await withSessions(steps, scope, whole, request.breakdown);
  return steps.collect(own, (within) => trendFacts(within, request));
}

/**
 * One fact an event and value of the breakdown: when, its bucket, the value, who did it, and what is measured, which is
 * read from properties and sorted. Buckets are found outside of that: their starts are read first, for which Postgres
 * would give the rest to one process alone.
 */
function trendFacts(scope: EventScope, { series, buckets, breakdown }: TrendRequest): Sql {
  const { read, measured } = toMeasured(series.measure);
  return sql`select at, ${findBucket(sql`at`, buckets.starts)} as bucket, value, actor, ${measured} as measured from (
      select e.timestamp as at, ${selectValue(scope, breakdown)} as value, ${ACTOR} as actor
        ${read === undefined ? sql`` : sql`, ${read} as read, ${READ_HERE}`}
      ${eventsWhere(scope, buckets, matchEntity(scope, series))}) as each_event`;
}

/** The same where only persons are counted: the last moment of each id in a bucket, once for a value. */
export async function collectLastMoments(
  steps: Steps,
  scope: EventScope,
  { buckets, breakdown, series }: TrendRequest,
): Promise<Sql> {
  const own = await withSessions(steps, scope, buckets, breakdown);
  return collectPersons(steps, own, {
    span: buckets,
    match: (within) => matchEntity(within, series),
    starts: buckets.starts,
    breakdown,
    moment: 'last',
  });
}

const SESSION = { owner: 'event', key: '$session_id' } as const;

/** What is measured of an event, and what of its properties that is made of. */
function toMeasured(measure: Measure): { readonly read?: Sql; readonly measured: Sql } {
  if ('property' in measure) return { read: selectNumeric(measure.property), measured: toNumber(sql`read`) };
  if (measure.math !== 'unique_session') return { measured: sql`null` };
  return { read: selectText(SESSION), measured: sql`nullif(read, '')` };
}

const quantile = (share: number): Sql =>
  sql`percentile_cont(${share}::float8) within group (order by measured)`;

export const AGGREGATES: Readonly<Record<Measure['math'], Sql>> = {
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

export const COUNTS_PERSONS: ReadonlySet<Measure['math']> = new Set([
  'dau',
  'weekly_active',
  'monthly_active',
]);

/** The days that somebody stays active for. */
export const ACTIVE_DAYS: ReadonlyMap<string, number> = new Map([
  ['weekly_active', 7],
  ['monthly_active', 30],
]);

/** The same request over the days before its range, too, in which somebody becomes active. */
export function lookBack(request: TrendRequest, days: number): TrendRequest {
  const { ends, from } = request.buckets;
  return { ...request, buckets: { ...request.buckets, from: daysBefore(ends[0] ?? from, days) } };
}

export const daysBefore = (time: string, days: number): string =>
  new Date(Date.parse(time) - days * DAY_MS).toISOString();

export const selectGreatest = (facts: Sql, breakdown: Breakdown, aggregate: Sql): Sql =>
  sql`select value, value as label from ${facts} as parts group by value
    order by ${aggregate} desc nulls last, value = '', value collate "C" limit ${breakdown.limit}::integer`;

export async function loadMostPersons(
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
