import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { unsupported } from '../insight-error.ts';
import { getKind, type InsightQuery, isInsightName } from '../registry.ts';
import { readCommon } from './common.ts';
import { given, readFields, words } from './fields.ts';

const headFields = z.object({ insight: given(words) });

/**
 * Reads the `filters` of an insight as clients of the service write them. Throws InsightError: `invalid` for
 * what cannot be read, `unsupported` for what is understood but not available.
 */
export function parseInsightFilters(filters: JsonObject): InsightQuery {
  const { insight: name = 'TRENDS' } = readFields(headFields, filters);
  const common = readCommon(filters);
  if (!isInsightName(name)) {
    throw unsupported(`Insights of type "${name.slice(0, 40)}" are not supported.`, 'insight');
  }
  return getKind(name).parse(filters, common);
}
