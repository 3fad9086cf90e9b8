import type { Queryable } from '../../database/db.ts';
import { allOf, joinSql, type Sql, sql } from '../../database/sql.ts';
import { withSessions } from '../breakdown-store.ts';
import type { Breakdown } from '../entity.ts';
import { type EventScope, runFacts, type Span } from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import { FACT_COLUMNS, funnelFacts, funnelFactsByPeriod, matchedEvents } from './facts.ts';
import type { FunnelQuery } from './model.ts';

/** Persons by the value of the breakdown; null for all beyond its limit, without a breakdown ''. */
export interface FunnelRow {
  readonly value: string | null;
  /** By step: persons who came this far. */
  readonly counts: readonly number[];
  /** By step: seconds from the step before; null where nobody came. */
  readonly averages: readonly (number | null)[];
  readonly medians: readonly (number | null)[];
}

/** Most persons at the first step first. */
export async function loadFunnel(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: FunnelQuery,
): Promise<FunnelRow[]> {
  const { breakdown } = query;
  const indexes = query.steps.map((_, step) => step);
  const seconds = (step: number) =>
    sql`extract(epoch from at[${step + 1}::integer] - at[${step}::integer])::float8`;
  const perStep = (aggregate: (step: number) => Sql) =>
    sql`array[${joinSql(
      indexes.map((step) => sql`${aggregate(step)} filter (where steps > ${step}::integer)`),
      ', ',
    )}]`;
  const labels = breakdown
    ? sql`greatest_values as (${selectGreatest(breakdown)}),
      labelled as (select f.*, g.value as label from facts f left join greatest_values g on g.value = f.value)`
    : sql`labelled as (select f.*, f.value as label from facts f)`;
  const facts = await collectFacts(steps, scope, span, query);
  return runFacts(
    tx,
    sql`with facts as (select * from ${facts} as derived), ${labels}
      select label as value,
        ${perStep(() => sql`count(*)`)}::integer[] as counts,
        ${perStep((step) => sql`avg(${seconds(step)})`)} as averages,
        ${perStep((step) => sql`percentile_cont(0.5) within group (order by ${seconds(step)})`)} as medians
      from labelled group by label order by count(*) desc, label = '', label collate "C"`,
  );
}

const selectGreatest = ({ limit }: Breakdown): Sql =>
  sql`select value from facts group by value
    order by count(distinct actor) desc, value = '', value collate "C" limit ${limit}::integer`;

async function collectMatched(steps: Steps, scope: EventScope, span: Span, query: FunnelQuery): Promise<Sql> {
  const own = await withSessions(steps, scope, span, query.breakdown);
  return steps.collect(own, (within) => matchedEvents(within, span, query));
}

async function collectFacts(steps: Steps, scope: EventScope, span: Span, query: FunnelQuery): Promise<Sql> {
  const matched = await collectMatched(steps, scope, span, query);
  return steps.derive([matched], (of) => funnelFacts(scope, of(matched), query), FACT_COLUMNS);
}

/** Persons who entered in one period, from 1, by the value of the breakdown as of a funnel by step. */
export interface PeriodRow {
  readonly value: string | null;
  readonly period: number;
  /** Who reached the first and the last of two steps. */
  readonly entered: number;
  readonly converted: number;
}

export async function loadFunnelByPeriod(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: FunnelQuery,
): Promise<PeriodRow[]> {
  const { breakdown, span } = query;
  const facts = await collectPeriods(steps, scope, buckets, query);
  const label = breakdown
    ? sql`case when f.value in (${selectGreatest(breakdown)}) then f.value end`
    : sql`f.value`;
  return runFacts(
    tx,
    sql`with facts as (select * from ${facts} as derived)
      select ${label} as value, period,
        count(*) filter (where steps > ${span.from}::integer) as entered,
        count(*) filter (where steps > ${span.to}::integer) as converted
      from facts f group by 1, 2`,
  );
}

export interface ConversionTimes {
  /** Where the first bin begins, and the width of each, in seconds. */
  readonly low: number;
  readonly width: number;
  /** Seconds. */
  readonly average: number;
  /** Persons by index of the bin, from 0; empty bins have no row. */
  readonly bins: readonly (readonly [bin: number, persons: number])[];
}

/** Bins that a funnel without a number of its own has at most. */
const MOST_BINS = 60;

/** How long persons took from one step to another; undefined where nobody came. */
export async function loadConversionTimes(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: FunnelQuery,
): Promise<ConversionTimes | undefined> {
  const facts = await collectFacts(steps, scope, span, query);
  const bins =
    query.binCount === undefined
      ? sql`least(${MOST_BINS}::integer, ceil(cbrt(count(*))))`
      : sql`${query.binCount}::integer`;
  const rows = await runFacts<{ low: number; width: number; average: number; bin: number; persons: number }>(
    tx,
    sql`with times as materialized (
        select ${selectSeconds(query)} as seconds from ${facts} as derived where steps > ${query.span.to}::integer),
      edges as (
        select floor(min(seconds)) as low, avg(seconds) as average,
          greatest(1, ceil((max(seconds) - floor(min(seconds))) / ${bins})) as width from times)
      select low, width, average, floor((seconds - low) / width)::integer as bin, count(*) as persons
      from times, edges group by low, width, average, bin order by bin`,
  );
  const [first] = rows;
  return first && { ...first, bins: rows.map(({ bin, persons }) => [bin, persons]) };
}

/** Seconds that somebody took who reached the last of the two steps. */
const selectSeconds = ({ span: { from, to } }: FunnelQuery): Sql =>
  sql`extract(epoch from at[${to + 1}::integer] - at[${from + 1}::integer])::float8`;

async function collectPeriods(
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: FunnelQuery,
): Promise<Sql> {
  const matched = await collectMatched(steps, scope, buckets, query);
  return steps.derive(
    [matched],
    (of) => funnelFactsByPeriod(scope, of(matched), query, buckets),
    sql`actor text collate "C", period integer, steps integer, value text collate "C"`,
  );
}

/** Some of those who entered a funnel. */
export interface FunnelPart {
  /** How many steps they reached, from 1: any of these. */
  readonly reached: readonly number[];
  /** Their value of the breakdown; null: all beyond its limit, undefined: every value. */
  readonly value: string | null | undefined;
  /** How long they took between the two steps, in seconds; `until` is the first that is too long. */
  readonly took?: { readonly from?: number | undefined; readonly until?: number | undefined };
}

/** The persons of a part of a funnel. */
export async function findInFunnel(
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: FunnelQuery,
  { reached, value, took }: FunnelPart,
): Promise<Sql> {
  const facts = await collectFacts(steps, scope, span, query);
  const seconds = selectSeconds(query);
  const conditions = [
    sql`steps = any(${reached}::integer[])`,
    isOfValue(query.breakdown, value),
    ...(took?.from === undefined ? [] : [sql`${seconds} >= ${took.from}::float8`]),
    ...(took?.until === undefined ? [] : [sql`${seconds} < ${took.until}::float8`]),
  ];
  return sql`(with facts as (select * from ${facts} as derived)
    select actor from facts where ${allOf(conditions)})`;
}

/** The persons who entered a funnel in one period, from 1, and whose best attempt reached so many steps. */
export async function findInPeriod(
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: FunnelQuery,
  { period, reached, value }: FunnelPart & { readonly period: number },
): Promise<Sql> {
  const facts = await collectPeriods(steps, scope, buckets, query);
  return sql`(with facts as (select * from ${facts} as derived)
    select actor from facts
    where period = ${period}::integer and steps = any(${reached}::integer[])
      and ${isOfValue(query.breakdown, value)})`;
}

function isOfValue(breakdown: Breakdown | undefined, value: FunnelPart['value']): Sql {
  if (breakdown === undefined || value === undefined) return sql`true`;
  return value === null ? sql`value not in (${selectGreatest(breakdown)})` : sql`value = ${value}::text`;
}
