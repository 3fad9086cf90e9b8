import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { Breakdown } from '../entity.ts';
import { type EventScope, runFacts, type Span } from '../events-store.ts';
import type { Steps } from '../steps.ts';
import {
  ACTIVE_DAYS,
  AGGREGATES,
  COUNTS_PERSONS,
  collectFacts,
  daysBefore,
  loadMostPersons,
  lookBack,
  selectGreatest,
  type TrendRequest,
} from './facts.ts';

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
  const facts = await collectFacts(steps, scope, reach, lookBackAsCounted(request));
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
