import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { unsupported } from '../insight-error.ts';
import { getKind, type InsightQuery, isInsightName } from '../registry.ts';
import { given, readDates, readFields, readFilter, words } from './fields.ts';

const headFields = z.object({
  insight: given(words),
  properties: given(z.unknown()),
  aggregation_group_type_index: given(z.unknown()),
});

/**
 * Reads the `filters` of an insight as clients of the service write them. Throws InsightError: `invalid` for
 * what cannot be read, `unsupported` for what is understood but not available. `filter_test_accounts` has no
 * effect, as projects have no such filters, and neither has `sampling_factor`: results are exact.
 */
export function parseInsightFilters(filters: JsonObject): InsightQuery {
  const head = readFields(headFields, filters);
  if (head.aggregation_group_type_index !== undefined) {
    throw unsupported('Counting groups is not supported: count persons.');
  }
  const common = { dates: readDates(filters), filter: readFilter(head.properties) };
  const name = head.insight ?? 'TRENDS';
  if (!isInsightName(name)) {
    throw unsupported(`Insights of type "${name.slice(0, 40)}" are not supported.`);
  }
  return getKind(name).parse(filters, common);
}
