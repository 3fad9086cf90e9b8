import { allOf, anyOf, type Sql, sql } from '../database/sql.ts';
import { toText } from '../http/json.ts';
import { readFilterDate, storedDate } from './compile-date.ts';
import { NEGATIONS, type Operator, type PropertyFilter, type Scalar, type Test } from './filter.ts';
import { isSemverTest, SEMVER, type SemverTest, toVersionRange } from './match/semver.ts';
import { toPostgresPattern } from './pattern.ts';

/** A stored property, in its two forms; both are null where it is missing. */
interface Subject {
  readonly value: Sql;
  readonly text: Sql;
}

/** Milliseconds since 1970. */
type Now = number;

/**
 * Whether an object of stored properties (`p.properties`) passes a filter; never null. Negations are true
 * for what is missing or null, everything else is false for it.
 */
export function compileProperty(properties: Sql, filter: PropertyFilter, now: Now): Sql {
  const { key, operator, values, negated } = filter;
  if (operator === 'is_set' || operator === 'is_not_set') {
    // A null that was set is set.
    return unless((operator === 'is_not_set') !== negated, sql`${properties} ? ${key}::text`);
  }
  const subject = { value: sql`${properties} -> ${key}::text`, text: sql`${properties} ->> ${key}::text` };
  const test = stripNegation(operator);
  const condition = compileTest(test, subject, values, now);
  // What no value could pass, such as an invalid pattern, is not passed by its opposite either.
  if (condition === undefined) return unless(negated, sql`false`);
  return unless((test !== operator) !== negated, condition);
}

const unless = (negated: boolean, condition: Sql): Sql =>
  negated ? sql`not coalesce(${condition}, false)` : sql`coalesce(${condition}, false)`;

export function stripNegation(operator: Operator): Test {
  return operator in NEGATIONS ? NEGATIONS[operator as keyof typeof NEGATIONS] : (operator as Test);
}

function compileTest(test: Test, subject: Subject, values: readonly Scalar[], now: Now): Sql | undefined {
  const { text } = subject;
  const texts = values.map(toText);
  switch (test) {
    case 'exact':
      return sql`${subject.value} = any(${values.flatMap(jsonForms)}::text[]::jsonb[])`;
    case 'icontains':
      return anyText(texts, sql`position(lower(filter_texts.wanted) in lower(${text})) > 0`);
    case 'starts_with':
      return anyText(texts, sql`starts_with(${text}, filter_texts.wanted)`);
    case 'ends_with':
      return anyText(texts, sql`right(${text}, length(filter_texts.wanted)) = filter_texts.wanted`);
    case 'regex': {
      const patterns = texts.map(toPostgresPattern).filter((pattern) => pattern !== undefined);
      return patterns.length === 0 ? undefined : sql`${text} ~ any(${patterns}::text[])`;
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return compare(subject, ORDERS[test], texts);
    case 'between': {
      const [least = '', most = ''] = texts;
      return sql`(${compare(subject, ORDERS.gte, [least])} and ${compare(subject, ORDERS.lte, [most])})`;
    }
    case 'is_date_exact':
    case 'is_date_before':
    case 'is_date_after':
      return compareDates(test, subject, texts, now);
    default:
      return isSemverTest(test) ? compareVersions(test, text, texts) : undefined;
  }
}

/** An open end is null, which compares with nothing. */
function compareVersions(test: SemverTest, text: Sql, wanted: readonly string[]): Sql | undefined {
  const ranges = wanted.map((one) => toVersionRange(test, one)).filter((range) => range !== undefined);
  if (ranges.length === 0) return undefined;
  const version = sql`array(select coalesce(n, '0')::bigint from unnest(regexp_match(${text}, ${SEMVER}::text)) as filter_numbers (n))`;
  const passes = ranges.map(({ from, until }) =>
    allOf([
      ...(from === undefined ? [] : [sql`${version} >= ${[...from]}::bigint[]`]),
      ...(until === undefined ? [] : [sql`${version} < ${[...until]}::bigint[]`]),
    ]),
  );
  return sql`(${text} ~ ${SEMVER}::text and ${anyOf(passes)})`;
}

const anyText = (texts: readonly string[], condition: Sql): Sql =>
  sql`exists (select from unnest(${texts}::text[]) as filter_texts (wanted) where ${condition})`;

const JSON_NUMBER = /^-?(?:0|[1-9]\d{0,399})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,3})?$/;

/** Whether a value of a filter counts as a number. */
export const isFilterNumber = (text: string): boolean => JSON_NUMBER.test(text);

/** The JSON values that count as equal to a filter's: "1" is 1, "True" is true and the text "true". */
function jsonForms(wanted: Scalar): string[] {
  const text = toText(wanted);
  const forms = [JSON.stringify(text)];
  if (isFilterNumber(text)) forms.push(text);
  const folded = text.toLowerCase();
  if (folded === 'true' || folded === 'false') forms.push(folded, JSON.stringify(folded));
  return forms;
}

const ORDERS = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const;

export type OrderTest = keyof typeof ORDERS;

/** The same for the result of a comparison: below 0, 0 or above 0. */
export const ORDER_TESTS: Readonly<Record<OrderTest, (result: number) => boolean>> = {
  gt: (result) => result > 0,
  gte: (result) => result >= 0,
  lt: (result) => result < 0,
  lte: (result) => result <= 0,
};

/** Numbers compare as numbers with every wanted value that is one too; texts compare as texts always. */
function compare({ value, text }: Subject, order: Sql, wanted: readonly string[]): Sql {
  const isNumber = (one: string) => isFilterNumber(one.trim());
  const asText = (those: readonly string[]) => sql`(${text}) collate "C" ${order} any(${those}::text[])`;
  return sql`case jsonb_typeof(${value})
    when 'number' then (${value})::numeric ${order} any(${wanted.filter(isNumber)}::text[]::numeric[])
      or ${asText(wanted.filter((one) => !isNumber(one)))}
    when 'string' then ${asText(wanted)}
  end`;
}

function compareDates(
  test: 'is_date_exact' | 'is_date_before' | 'is_date_after',
  { value, text }: Subject,
  texts: readonly string[],
  now: Now,
): Sql | undefined {
  const dates = texts.map((given) => readFilterDate(given, now)).filter((date) => date !== undefined);
  if (dates.length === 0) return undefined;
  const [froms, untils] = [dates.map(({ from }) => from), dates.map(({ until }) => until)];
  return sql`exists (
    select from (select ${storedDate(value, text)}) as filter_stored (at),
      unnest(${froms}::text[]::timestamptz[], ${untils}::text[]::timestamptz[]) as filter_dates (start, stop)
    where ${DATE_TESTS[test]})`;
}

const DATE_TESTS = {
  is_date_exact: sql`filter_stored.at >= filter_dates.start and filter_stored.at < filter_dates.stop`,
  is_date_before: sql`filter_stored.at < filter_dates.start`,
  is_date_after: sql`filter_stored.at > filter_dates.start`,
} as const;
