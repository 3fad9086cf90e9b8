import { isExactNumber } from '../../../lib/json/exact-number.ts';
import { type JsonObject, toText } from '../../http/json.ts';
import { readFilterDate } from '../compile-date.ts';
import { isFilterNumber, ORDER_TESTS, type OrderTest, stripNegation } from '../compile-property.ts';
import type { PropertyFilter, Scalar, Test } from '../filter.ts';
import { readStoredDate, toMicros } from './date.ts';
import { compareNumbers } from './numbers.ts';
import { compilePattern } from './pattern.ts';
import { isInRange, parseVersion, type SemverTest, toVersionRange } from './semver.ts';
import { compareTexts, toStoredText } from './stored-text.ts';

/** Whether stored properties pass. `now`: milliseconds since 1970, for relative dates. */
export type MatchProperties = (properties: JsonObject, now: number) => boolean;

type MatchValue = (value: unknown, now: number) => boolean;

/**
 * The same answer in memory that `compileProperty` gives in SQL. Negations are true for what is missing or
 * null, everything else is false for it.
 */
export function compileMatchProperty(filter: PropertyFilter): MatchProperties {
  const { key, operator, values, negated } = filter;
  const test = stripNegation(operator);
  const inverted = (test !== operator) !== negated;
  if (test === 'is_set') return (properties) => Object.hasOwn(properties, key) !== inverted;
  const match = compileTest(test, values);
  // What no value could pass, such as an invalid pattern, is not passed by its opposite either.
  if (match === undefined) return () => negated;
  return (properties, now) => {
    const value = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return (value !== undefined && value !== null && match(value, now)) !== inverted;
  };
}

function compileTest(test: Exclude<Test, 'is_set'>, values: readonly Scalar[]): MatchValue | undefined {
  const texts = values.map(toText);
  switch (test) {
    case 'exact':
      return matchExact(texts);
    case 'icontains': {
      const wanted = texts.map((text) => text.toLowerCase());
      return matchText((text) => {
        const lower = text.toLowerCase();
        return wanted.some((one) => lower.includes(one));
      });
    }
    case 'starts_with':
      return matchText((text) => texts.some((one) => text.startsWith(one)));
    case 'ends_with':
      return matchText((text) => texts.some((one) => text.endsWith(one)));
    case 'regex': {
      const patterns = texts.flatMap((text) => compilePattern(text) ?? []);
      return patterns.length === 0 ? undefined : matchText((text) => patterns.some((find) => find(text)));
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return matchOrder(test, texts);
    case 'between': {
      const [least = '', most = ''] = texts;
      const [above, below] = [matchOrder('gte', [least]), matchOrder('lte', [most])];
      return (value, now) => above(value, now) && below(value, now);
    }
    case 'is_date_exact':
    case 'is_date_before':
    case 'is_date_after':
      return matchDate(test, texts);
    default:
      return matchVersion(test, texts);
  }
}

const matchText =
  (matches: (text: string) => boolean): MatchValue =>
  (value) =>
    matches(toStoredText(value) ?? '');

const isNumber = (value: unknown): boolean => typeof value === 'number' || isExactNumber(value);

/** "1" is 1, "True" is true and the text "true". */
function matchExact(wanted: readonly string[]): MatchValue {
  const booleans = wanted
    .map((text) => text.toLowerCase())
    .filter((text) => text === 'true' || text === 'false');
  const texts = new Set([...wanted, ...booleans]);
  const flags = new Set<string>(booleans);
  const numbers = wanted.filter(isFilterNumber);
  return (value) => {
    if (typeof value === 'string') return texts.has(value);
    if (typeof value === 'boolean') return flags.has(String(value));
    return isNumber(value) && numbers.some((one) => compareNumbers(String(value), one) === 0);
  };
}

/** Numbers compare as numbers with every wanted value that is one too; texts compare as texts always. */
function matchOrder(test: OrderTest, wanted: readonly string[]): MatchValue {
  const passes = ORDER_TESTS[test];
  const numbers = wanted.map((text) => text.trim()).filter(isFilterNumber);
  const words = wanted.filter((text) => !isFilterNumber(text.trim()));
  return (value) => {
    if (typeof value === 'string') return wanted.some((one) => passes(compareTexts(value, one)));
    if (!isNumber(value)) return false;
    const text = toStoredText(value) ?? '';
    return (
      numbers.some((one) => passes(compareNumbers(text, one))) ||
      words.some((one) => passes(compareTexts(text, one)))
    );
  };
}

export function matchVersion(test: SemverTest, texts: readonly string[]): MatchValue | undefined {
  const ranges = texts.map((text) => toVersionRange(test, text)).filter((range) => range !== undefined);
  if (ranges.length === 0) return undefined;
  return matchText((text) => {
    const version = parseVersion(text);
    return version !== undefined && ranges.some((range) => isInRange(version, range));
  });
}

function matchDate(
  test: 'is_date_exact' | 'is_date_before' | 'is_date_after',
  texts: readonly string[],
): MatchValue | undefined {
  // Whether a text is a date at all does not depend on the time.
  const readable = texts.filter((text) => readFilterDate(text, 0) !== undefined);
  if (readable.length === 0) return undefined;
  return (value, now) => {
    const at = typeof value === 'string' ? readStoredDate(value) : undefined;
    if (at === undefined) return false;
    return readable.some((text) => {
      const date = readFilterDate(text, now);
      if (date === undefined) return false;
      const from = toMicros(Date.parse(date.from));
      if (test === 'is_date_before') return at < from;
      if (test === 'is_date_after') return at > from;
      return at >= from && at < toMicros(Date.parse(date.until));
    });
  };
}
