import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { parseFunnel } from '../funnel/parse.ts';
import { unsupported } from '../insight-error.ts';
import {
  DISPLAYS,
  type Display,
  type InsightQuery,
  type LifecycleQuery,
  type StickinessQuery,
  type TrendsQuery,
} from '../insight-query.ts';
import { parsePaths } from '../paths/parse.ts';
import { parseRetention } from '../retention/parse.ts';
import { readSeries } from './entities.ts';
import {
  count,
  flag,
  given,
  readBreakdown,
  readDates,
  readFields,
  readFilter,
  readInterval,
  words,
} from './fields.ts';

const headFields = z.object({
  insight: given(words),
  properties: given(z.unknown()),
  aggregation_group_type_index: given(z.unknown()),
});

/**
 * Reads the `filters` of an insight as clients of the service write them. Throws InsightError: `invalid` for
 * what cannot be read, `unsupported` for what is understood and not to be had. `filter_test_accounts` does
 * nothing, as projects have no such filters, and `sampling_factor` nothing either: results are exact.
 */
export function parseInsightFilters(filters: JsonObject): InsightQuery {
  const head = readFields(headFields, filters);
  if (head.aggregation_group_type_index !== undefined) {
    throw unsupported('Counting groups is not supported: count persons.');
  }
  const common = { dates: readDates(filters), filter: readFilter(head.properties) };
  const insight = head.insight ?? 'TRENDS';
  switch (insight) {
    case 'TRENDS':
      return { insight, ...common, ...parseTrends(filters) };
    case 'LIFECYCLE':
      return { insight, ...common, ...parseLifecycle(filters) };
    case 'STICKINESS':
      return { insight, ...common, ...parseStickiness(filters) };
    case 'FUNNELS':
      return { insight, ...common, ...parseFunnel(filters) };
    case 'RETENTION':
      return { insight, ...common, ...parseRetention(filters) };
    case 'PATHS':
      return { insight, ...common, ...parsePaths(filters) };
    default:
      throw unsupported(`Insights of type "${insight.slice(0, 40)}" are not supported.`);
  }
}

/** The fields of a query that its kind adds to what all have. */
type Own<Q extends InsightQuery> = Omit<Q, 'insight' | 'dates' | 'filter'>;

const trendFields = z.object({
  display: given(words),
  compare: flag,
  compare_to: given(words),
  formula: given(words),
  smoothing_intervals: count(1, 1000),
});

function parseTrends(filters: JsonObject): Own<TrendsQuery> {
  const fields = readFields(trendFields, filters);
  if (fields.formula !== undefined) {
    throw unsupported('Formulas are not supported: show the series themselves.');
  }
  if ((fields.smoothing_intervals ?? 1) > 1) throw unsupported('Smoothed lines are not supported.');
  if (fields.compare === true && fields.compare_to !== undefined) {
    throw unsupported('A comparison with another period than the one before is not supported.');
  }
  return {
    series: readSeries(filters),
    interval: readInterval(filters),
    breakdown: readBreakdown(filters),
    display: displayOf(fields.display),
    compare: fields.compare ?? false,
  };
}

/** How a trend is drawn is no reason to refuse it: what is not known is drawn as lines. */
const displayOf = (name: string | undefined): Display =>
  DISPLAYS.find((known) => known === name) ?? 'ActionsLineGraph';

function parseLifecycle(filters: JsonObject): Own<LifecycleQuery> {
  const [entity, second] = readSeries(filters);
  if (entity === undefined || second !== undefined) throw unsupported('A lifecycle is of one event.');
  return { entity, interval: readInterval(filters) };
}

function parseStickiness(filters: JsonObject): Own<StickinessQuery> {
  const { compare } = readFields(z.object({ compare: flag }), filters);
  if (compare === true) throw unsupported('A stickiness cannot be compared with the period before.');
  return { series: readSeries(filters), interval: readInterval(filters) };
}
