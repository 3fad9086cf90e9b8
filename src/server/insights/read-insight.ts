import type { JsonObject } from '../http/json.ts';
import { readFilter } from './parse/fields.ts';
import { parseInsightFilters } from './parse/insight-filters.ts';
import { queryToFilters } from './parse/query-to-filters.ts';
import type { InsightQuery } from './registry.ts';

/** The query of an insight, with the dates and filters of the dashboard that shows it. Throws InsightError. */
export function readInsight(
  insight: { readonly filters: JsonObject; readonly query: JsonObject | null },
  dashboard: JsonObject = {},
): InsightQuery {
  const own = insight.query === null ? insight.filters : queryToFilters(insight.query);
  const query = parseInsightFilters({ ...own, ...pickDates(dashboard) });
  const added = readFilter(dashboard['properties']);
  if (added.members.length === 0) return query;
  return { ...query, filter: { kind: 'group', operator: 'and', members: [query.filter, added] } };
}

/** The dashboard's dates replace the insight's own, both ends together. */
function pickDates({ date_from: from, date_to: to, explicit_date: explicit }: JsonObject): JsonObject {
  return isGiven(from) || isGiven(to) ? { date_from: from, date_to: to, explicit_date: explicit } : {};
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
