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
  getInterval: ({ interval }) => interval,
  compute: computeTrends,
  isEmpty: ({ display, result }) =>
    display !== 'BoldNumber' &&
    result.every(({ count, data }) => count === 0 && data.every((value) => value === 0)),
  render: renderTrends,
};

function convertFormulas({ formulas, formula_nodes: nodes, ...own }: JsonObject): JsonObject {
  const hasFormula = [formulas, nodes].some((list) => Array.isArray(list) && list.length > 0);
  return hasFormula ? { ...own, formula: 'formulas' } : own;
}
