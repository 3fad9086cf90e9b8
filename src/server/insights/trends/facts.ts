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
  selectNumber,
  selectText,
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

/** One fact an event: when, its bucket and value of the breakdown, who did it, and what is measured. */
export function trendFacts(scope: EventScope, { series, buckets, breakdown }: TrendRequest): Sql {
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
