import { isJsonObject, type JsonObject, toText } from '../../http/json.ts';
import { invalid } from '../insight-error.ts';

/** Stand for all values of a breakdown beyond its limit: ours, and the name that newer clients use. */
const OTHERS: ReadonlySet<string> = new Set(['$$_breakdown_other_$$', '$$_posthog_breakdown_other_$$']);
/** The same for no value. */
const NONE = '$$_posthog_breakdown_null_$$';

/**
 * The value of a breakdown that a list is about: null for all beyond the limit, undefined for every value. A body
 * may hold it in a list of one, as results of funnels show it; text is the value as it stands.
 */
export function readBreakdownValue(filters: JsonObject, attr: string): string | null | undefined {
  const given = filters[attr];
  if (given === undefined || given === null) return undefined;
  const single: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given;
  if (Array.isArray(single) || isJsonObject(single)) throw invalid(`${attr}: Must be one value.`, attr);
  const value = toText(single);
  if (OTHERS.has(value)) return null;
  return value === NONE ? '' : value;
}
