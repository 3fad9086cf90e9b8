import { isJsonObject, type JsonObject } from '../../http/json.ts';
import type { InsightKind } from '../insight-kind.ts';
import { toEntityFields, toSnakeKeys } from '../parse/query-nodes.ts';
import { computeFunnel } from './compute.ts';
import type { FunnelData, FunnelQuery } from './model.ts';
import { parseFunnel } from './parse.ts';
import { renderFunnel } from './render.ts';

/** How many persons go through a number of steps. */
export const funnel: InsightKind<'FUNNELS', FunnelQuery, FunnelData> = {
  name: 'FUNNELS',
  source: { kind: 'FunnelsQuery', filterKey: 'funnelsFilter', toFilters: convertExclusions },
  parse: parseFunnel,
  listEntities: ({ steps, exclusions }) => [...steps, ...exclusions],
  getInterval: () => 'day',
  compute: computeFunnel,
  isEmpty: ({ result }) => result.flat().every(({ count }) => count === 0),
  render: ({ result }) => renderFunnel(result),
};

function convertExclusions({ exclusions, ...own }: JsonObject): JsonObject {
  if (!Array.isArray(exclusions)) return own;
  const converted = exclusions
    .filter(isJsonObject)
    .map((node) => ({ ...toSnakeKeys(node), ...toEntityFields(node) }));
  return { ...own, exclusions: converted };
}
