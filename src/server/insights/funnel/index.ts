import { isJsonObject, type JsonObject } from '../../http/json.ts';
import type { InsightKind } from '../insight-kind.ts';
import { toEntityFields, toSnakeKeys } from '../parse/query-nodes.ts';
import { computeFunnel } from './compute.ts';
import { computeTimes } from './compute-times.ts';
import type { FunnelData, FunnelQuery, FunnelView } from './model.ts';
import { computeOverTime } from './over-time.ts';
import { parseFunnel } from './parse.ts';
import { renderFunnel } from './render.ts';

/** How many persons go through a number of steps. */
export const funnel: InsightKind<'FUNNELS', FunnelQuery, FunnelData> = {
  name: 'FUNNELS',
  source: { kind: 'FunnelsQuery', filterKey: 'funnelsFilter', toFilters: convertExclusions },
  parse: parseFunnel,
  listEntities: ({ steps, exclusions }) => [...steps, ...exclusions],
  getBreakdown: ({ breakdown }) => breakdown,
  getInterval: ({ shown, interval }) => (shown === 'trends' ? interval : 'day'),
  compute: (tx, steps, scope, query, range) => COMPUTE[query.shown](tx, steps, scope, query, range),
  isEmpty,
  render: renderFunnel,
};

const COMPUTE: Readonly<Record<FunnelView, InsightKind<'FUNNELS', FunnelQuery, FunnelData>['compute']>> = {
  steps: computeFunnel,
  trends: computeOverTime,
  time_to_convert: computeTimes,
};

function isEmpty(data: FunnelData): boolean {
  switch (data.shown) {
    case 'steps':
      return data.result.flat().every(({ count }) => count === 0);
    case 'trends':
      return data.result.every(({ reached_from_step_count: counts }) => counts.every((count) => count === 0));
    case 'time_to_convert':
      return data.result.bins.length === 0;
  }
}

function convertExclusions({ exclusions, ...own }: JsonObject): JsonObject {
  if (!Array.isArray(exclusions)) return own;
  const converted = exclusions
    .filter(isJsonObject)
    .map((node) => ({ ...toSnakeKeys(node), ...toEntityFields(node) }));
  return { ...own, exclusions: converted };
}
