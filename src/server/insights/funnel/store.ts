import type { Queryable } from '../../database/db.ts';
import { joinSql, type Sql, sql } from '../../database/sql.ts';
import { type EventScope, runFacts, type Span } from '../events-store.ts';
import type { Steps } from '../steps.ts';
import { funnelFacts, matchedEvents } from './facts.ts';
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
    ? sql`greatest_values as (
        select value from facts group by value order by count(*) desc, value = '', value collate "C" limit ${breakdown.limit}::integer),
      labelled as (select f.*, g.value as label from facts f left join greatest_values g on g.value = f.value)`
    : sql`labelled as (select f.*, f.value as label from facts f)`;
  const matched = await steps.collect(scope, (within) => matchedEvents(within, span, query));
  const facts = await steps.derive([matched], (of) => funnelFacts(scope, of(matched), query));
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
