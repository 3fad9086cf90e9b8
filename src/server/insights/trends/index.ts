import type { JsonObject } from '../../http/json.ts';
import type { InsightKind } from '../insight-kind.ts';
import { computeTrends } from './compute.ts';
import type { TrendsData, TrendsQuery } from './model.ts';
import { parseTrends } from './parse.ts';
import { renderTrends } from './render.ts';

/** Counts of events by interval, as lines, columns or totals. */
export const trends: InsightKind<'TRENDS', TrendsQuery, TrendsData> = {
  name: 'TRENDS',
  source: { kind: 'TrendsQuery', filterKey: 'trendsFilter', toFilters: convertFormulas },
  parse: parseTrends,
  listEntities: ({ series }) => series,
  getBreakdown: ({ breakdown }) => breakdown,
  getInterval: ({ interval }) => interval,
  compute: computeTrends,
  // Means that are rounded down do not say that nothing was counted.
  isEmpty: ({ display, smoothing, result }) =>
    display !== 'BoldNumber' &&
    smoothing === undefined &&
    result.every(({ count, data }) => count === 0 && data.every((value) => value === 0)),
  render: renderTrends,
};

/** Newer queries have several formulas, as texts or with names. */
function convertFormulas({ formulas, formula_nodes: nodes, ...own }: JsonObject): JsonObject {
  if (Array.isArray(nodes) && nodes.length > 0) return { ...own, formulas: nodes };
  if (!Array.isArray(formulas) || formulas.length === 0) return own;
  return { ...own, formulas: formulas.map((formula: unknown) => ({ formula })) };
}
