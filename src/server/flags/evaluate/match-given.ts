import { isExactNumber } from '../../../lib/json/exact-number.ts';
import { toText } from '../../http/json.ts';
import { readFilterDate } from '../../query/compile-date.ts';
import { isFilterNumber, ORDER_TESTS, type OrderTest, stripNegation } from '../../query/compile-property.ts';
import { parseIsoDate } from '../../query/date-text.ts';
import type { PropertyFilter, Scalar, Test } from '../../query/filter.ts';
import { compareNumbers } from '../../query/match/numbers.ts';
import { compilePattern } from '../../query/match/pattern.ts';
import { matchVersion } from '../../query/match/property.ts';
import { compareTexts } from '../../query/match/stored-text.ts';

/** Whether a property that the request gives passes. `now`: milliseconds since 1970. */
export type MatchGiven = (value: unknown, now: number) => boolean;

/**
 * Properties that come with a request are compared more loosely than stored ones (query/match/property.ts):
 * without regard to case, and by their text. Clients that evaluate flags themselves do the same.
 * https://github.com/PostHog/posthog-python/blob/master/posthog/feature_flags.py (`match_property`)
 */
export function compileMatchGiven({ operator, values, negated }: PropertyFilter): MatchGiven {
  const test = stripNegation(operator);
  const inverted = (test !== operator) !== negated;
  // A property that is given is set, null too.
  if (test === 'is_set') return () => !inverted;
  const match = compileTest(test, values);
  // An invalid pattern or date is passed by nobody, nor is its opposite.
  if (match === undefined) return () => negated;
  return (value, now) => match(value, now) !== inverted;
}

function compileTest(test: Exclude<Test, 'is_set'>, values: readonly Scalar[]): MatchGiven | undefined {
  const texts = values.map(toGivenText);
  const lower = texts.map((text) => text.toLowerCase());
  switch (test) {
    case 'exact':
      return (value) => lower.includes(toGivenText(value).toLowerCase());
    case 'icontains':
      return (value) => {
        const text = toGivenText(value).toLowerCase();
        return lower.some((wanted) => text.includes(wanted));
      };
    case 'starts_with':
      return (value) => texts.some((wanted) => toGivenText(value).startsWith(wanted));
    case 'ends_with':
      return (value) => texts.some((wanted) => toGivenText(value).endsWith(wanted));
    case 'regex': {
      const patterns = values.map(toText).flatMap((text) => compilePattern(text) ?? []);
      return patterns.length === 0 ? undefined : (value) => patterns.some((find) => find(toGivenText(value)));
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return (value) => texts.some((wanted) => compare(test, value, wanted));
    case 'between': {
      const [least = '', most = ''] = texts;
      return (value) => compare('gte', value, least) && compare('lte', value, most);
    }
    case 'is_date_exact':
    case 'is_date_before':
    case 'is_date_after':
      return compileDates(test, texts);
    default:
      return matchVersion(test, texts);
  }
}

/** As the service's own language writes it: `True`, `None`. */
function toGivenText(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return toText(value);
}

/** Numbers compare as numbers with a number, everything else as text: "100" is less than "30". */
function compare(test: OrderTest, value: unknown, wanted: string): boolean {
  const passes = ORDER_TESTS[test];
  const isNumber = typeof value === 'number' || isExactNumber(value);
  return isNumber && isFilterNumber(wanted.trim())
    ? passes(compareNumbers(String(value), wanted.trim()))
    : passes(compareTexts(toGivenText(value), wanted));
}

function compileDates(
  test: 'is_date_exact' | 'is_date_before' | 'is_date_after',
  texts: readonly string[],
): MatchGiven | undefined {
  const readable = texts.filter((text) => readFilterDate(text, 0) !== undefined);
  if (readable.length === 0) return undefined;
  return (value, now) => {
    const given = typeof value === 'string' ? parseIsoDate(value, 'utc') : undefined;
    if (given === undefined) return false;
    const at = given.date.toMillis();
    return readable.some((text) => {
      const date = readFilterDate(text, now);
      if (date === undefined) return false;
      const [from, until] = [Date.parse(date.from), Date.parse(date.until)];
      if (test === 'is_date_before') return at < from;
      if (test === 'is_date_after') return at > from;
      return at >= from && at < until;
    });
  };
}
