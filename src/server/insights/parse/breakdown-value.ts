import { isJsonObject, type JsonObject, toText } from '../../http/json.ts';
import { type Breakdown, EVERYBODY } from '../entity.ts';
import { invalid } from '../insight-error.ts';

/** Stand for all values of a breakdown beyond its limit: ours, and the name that newer clients use. */
const OTHERS: ReadonlySet<string> = new Set(['$$_breakdown_other_$$', '$$_posthog_breakdown_other_$$']);
/** The same for no value. */
const NONE = '$$_posthog_breakdown_null_$$';

/**
 * The value of a breakdown that a list is about: null for all beyond the limit, undefined for every value. A body
 * may hold it in a list of one, as results of funnels show it; text is the value as it stands.
 */
function readBreakdownValue(filters: JsonObject, attr: string): string | null | undefined {
  const given = filters[attr];
  if (given === undefined || given === null) return undefined;
  const single: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given;
  if (Array.isArray(single) || isJsonObject(single)) throw invalid(`${attr}: Must be one value.`, attr);
  const value = toText(single);
  if (OTHERS.has(value)) return null;
  return value === NONE ? '' : value;
}

/** What of a breakdown a list is about. */
export interface BreakdownPart {
  readonly breakdown: Breakdown | undefined;
  /** As of `readBreakdownValue`. */
  readonly value: string | null | undefined;
}

/** Somebody may be in several cohorts, so a list is of one, or has nothing to do with them. */
export function readPart(breakdown: Breakdown | undefined, filters: JsonObject, attr: string): BreakdownPart {
  if (breakdown === undefined) return { breakdown, value: undefined };
  const value = readBreakdownValue(filters, attr);
  if (breakdown.owner !== 'cohort') return { breakdown, value };
  if (value === undefined || value === EVERYBODY) return { breakdown: undefined, value: undefined };
  const id = breakdown.cohorts.find((cohort) => String(cohort) === value);
  if (id !== undefined) return { breakdown: { ...breakdown, cohorts: [id] }, value };
  throw invalid(`${attr}: Must be one of the cohorts of the breakdown.`, attr);
}
