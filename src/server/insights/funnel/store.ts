import type { Queryable } from '../../database/db.ts';
import { joinSql, type Sql, sql } from '../../database/sql.ts';
import type { Breakdown } from '../entity.ts';
import { type EventScope, runFacts, type Span } from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import { funnelFacts, funnelFactsByPeriod, matchedEvents } from './facts.ts';
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
    order by count(*) desc, value = '', value collate "C" limit ${limit}::integer`;

async function collectFacts(steps: Steps, scope: EventScope, span: Span, query: FunnelQuery): Promise<Sql> {
  const matched = await steps.collect(scope, (within) => matchedEvents(within, span, query));
  return steps.derive([matched], (of) => funnelFacts(scope, of(matched), query));
}

/** Some of those who entered a funnel. */
export interface FunnelPart {
  /** How many steps they reached, from 1: any of these. */
  readonly reached: readonly number[];
  /** Their value of the breakdown; null: all beyond its limit, undefined: every value. */
  readonly value: string | null | undefined;
}

/** The persons of a part of a funnel. */
export async function findInFunnel(
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: FunnelQuery,
  { reached, value }: FunnelPart,
): Promise<Sql> {
  const { breakdown } = query;
  const facts = await collectFacts(steps, scope, span, query);
  const ofValue =
    breakdown === undefined || value === undefined
      ? sql`true`
      : value === null
        ? sql`value not in (${selectGreatest(breakdown)})`
        : sql`value = ${value}::text`;
  return sql`(with facts as (select * from ${facts} as derived)
    select actor from facts where steps = any(${reached}::integer[]) and ${ofValue})`;
}

/** The persons who entered a funnel in one period, from 1, and whose best attempt reached so many steps. */
export async function findInPeriod(
  steps: Steps,
  scope: EventScope,
  buckets: Buckets,
  query: FunnelQuery,
  { period, reached }: { readonly period: number; readonly reached: readonly number[] },
): Promise<Sql> {
  const matched = await steps.collect(scope, (within) => matchedEvents(within, buckets, query));
  return steps.derive(
    [matched],
    (of) => sql`select actor from (${funnelFactsByPeriod(scope, of(matched), query, buckets)}) as facts
      where period = ${period}::integer and steps = any(${reached}::integer[])`,
  );
}
