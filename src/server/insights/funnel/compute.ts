import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import { loadCohortNames } from '../breakdown-store.ts';
import type { EventScope } from '../events-store.ts';
import { wholeRange } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { FunnelData, FunnelQuery, FunnelStep, FunnelSteps } from './model.ts';
import { type FunnelRow, loadFunnel } from './store.ts';

export async function computeFunnel(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  query: FunnelQuery,
  range: DateRange,
): Promise<FunnelData> {
  const rows = await loadFunnel(tx, steps, scope, wholeRange(range), query);
  const names = await loadCohortNames(tx, scope.projectId, query.breakdown);
  return { insight: 'FUNNELS', shown: 'steps', result: shapeFunnel(rows, query, names) };
}

/** The steps of all persons; with a breakdown those of each value, the others last. */
function shapeFunnel(
  rows: readonly FunnelRow[],
  query: FunnelQuery,
  names: ReadonlyMap<string, string>,
): FunnelSteps {
  const { breakdown } = query;
  if (breakdown === undefined) return toSteps(rows[0], query);
  const shown = rows.filter(({ value }) => value !== null || !breakdown.hideOther);
  return [...shown.filter(({ value }) => value !== null), ...shown.filter(({ value }) => value === null)].map(
    (row) => {
      const value = row.value ?? 'Other';
      const marks = { breakdown: [names.get(value) ?? value], breakdown_value: [value] };
      return toSteps(row, query).map((step) => ({ ...step, ...marks }));
    },
  );
}

const toSteps = (row: FunnelRow | undefined, { steps }: FunnelQuery): FunnelStep[] =>
  steps.map(({ event, name, customName }, order) => ({
    action_id: event,
    name,
    custom_name: customName,
    order,
    type: 'events',
    count: row?.counts[order] ?? 0,
    average_conversion_time: row?.averages[order] ?? null,
    median_conversion_time: row?.medians[order] ?? null,
  }));
