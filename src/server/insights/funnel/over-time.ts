import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import { loadCohortNames } from '../breakdown-store.ts';
import type { EventScope } from '../events-store.ts';
import { checkSize } from '../insight-error.ts';
import { type Buckets, cutRange } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { FunnelData, FunnelQuery, FunnelRates } from './model.ts';
import { loadFunnelByPeriod, type PeriodRow } from './store.ts';

/** The share of those who entered in each period who came through. */
export async function computeOverTime(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  query: FunnelQuery,
  range: DateRange,
): Promise<FunnelData> {
  const buckets = cutRange(range);
  checkSize((query.breakdown === undefined ? 1 : query.breakdown.limit + 1) * buckets.starts.length);
  const rows = buckets.starts.length === 0 ? [] : await loadFunnelByPeriod(tx, steps, scope, buckets, query);
  const names = await loadCohortNames(tx, scope.projectId, query.breakdown);
  return { insight: 'FUNNELS', shown: 'trends', result: shapeRates(rows, { ...query, names }, buckets) };
}

interface Line {
  readonly value: string | null;
  readonly entered: number[];
  readonly converted: number[];
}

/** A line for each value of the breakdown: most persons first, the others last. */
function shapeRates(
  rows: readonly PeriodRow[],
  { breakdown, names }: Pick<FunnelQuery, 'breakdown'> & { readonly names: ReadonlyMap<string, string> },
  { starts, days, labels }: Buckets,
): FunnelRates[] {
  const lines = new Map<string | null, Line>();
  const lineOf = (value: string | null): Line => {
    const line = lines.get(value) ?? { value, entered: starts.map(() => 0), converted: starts.map(() => 0) };
    lines.set(value, line);
    return line;
  };
  if (breakdown === undefined) lineOf('');
  for (const { value, period, entered, converted } of rows) {
    if (value === null && breakdown?.hideOther) continue;
    const line = lineOf(value);
    line.entered[period - 1] = entered;
    line.converted[period - 1] = converted;
  }
  return [...lines.values()]
    .sort((a, b) => Number(a.value === null) - Number(b.value === null) || sum(b.entered) - sum(a.entered))
    .map(({ value, entered, converted }) => ({
      count: starts.length,
      data: entered.map((count, index) => toRate(converted[index] ?? 0, count)),
      days,
      labels,
      reached_from_step_count: entered,
      reached_to_step_count: converted,
      ...(breakdown === undefined ? {} : markValue(value)),
    }));

  function markValue(value: string | null): Pick<FunnelRates, 'breakdown' | 'breakdown_value'> {
    const own = value ?? 'Other';
    return { breakdown: [names.get(own) ?? own], breakdown_value: [own] };
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

/** Per cent with two digits; none of nobody are 0. */
const toRate = (converted: number, entered: number): number =>
  entered === 0 ? 0 : Math.round((converted / entered) * 10_000) / 100;
