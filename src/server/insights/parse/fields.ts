import { z } from 'zod';
import { isExactNumber } from '../../../lib/json/exact-number.ts';
import { ApiError } from '../../http/errors.ts';
import { parseSafely } from '../../http/safe-json.ts';
import type { FilterGroup, Owner } from '../../query/filter.ts';
import { type AskedInterval, parseInterval } from '../../query/interval.ts';
import { WHERE_COHORTS_ARE, wholeNumber } from '../../query/item-fields.ts';
import { parseFilter } from '../../query/parse-filter.ts';
import { type Breakdown, EVERYBODY, SESSION_PROPERTIES, type SessionProperty } from '../entity.ts';
import { invalid, unsupported } from '../insight-error.ts';
import type { DateWords } from '../insight-kind.ts';

/**
 * Fields of filters as clients write them: null and empty text count as missing, numbers and booleans may
 * be text, objects and lists may be JSON text. Other fields are ignored.
 */
export const given = <S extends z.ZodType>(schema: S) =>
  z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional());

export const count = (least: number, most: number) =>
  given(z.preprocess(plainNumber, z.coerce.number().int().min(least).max(most)));

/**
 * Only numbers and text can be one: a list of one or `true` would be converted, too. These fields take no number that
 * a double cannot hold: as text it is invalid without a throw.
 */
function plainNumber(value: unknown): unknown {
  if (isExactNumber(value)) return value.toString();
  return typeof value === 'object' || typeof value === 'boolean' ? Number.NaN : value;
}

/** A whole number that must be there. */
export const integer = z.preprocess(plainNumber, z.coerce.number().int());

/** Above 0, up to 1. */
export const share = given(z.preprocess(plainNumber, z.coerce.number().gt(0).max(1)));

/** From 0. */
export const seconds = given(z.preprocess(plainNumber, z.coerce.number().min(0).max(1e15)));

export const flag = given(z.union([z.boolean(), z.stringbool()]));

const MAX_TEXT = 1000;

export const words = z.string().max(MAX_TEXT);

export const oneOf = <const V extends readonly string[]>(values: V) => given(z.enum(values));

/** A value that may come as its JSON text. */
export const fromJson = <S extends z.ZodType>(schema: S) =>
  given(z.preprocess((value) => (typeof value === 'string' ? parsed(value) : value), schema));

function parsed(text: string): unknown {
  try {
    return parseSafely(text);
  } catch {
    return text; // which the schema refuses
  }
}

export const parseList = <S extends z.ZodType>(item: S, most: number) => fromJson(z.array(item).max(most));

/** Reads the fields of `schema`. The error names the first invalid one. */
export function readFields<S extends z.ZodType>(schema: S, filters: unknown): z.infer<S> {
  const result = schema.safeParse(filters);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(
    `${issue?.path.join('.') || 'filters'}: ${issue?.message ?? 'cannot be read'}`,
    issue?.path[0]?.toString(),
  );
}

export const readFilter = (properties: unknown, defaultType: Owner = 'event'): FilterGroup =>
  orInvalid(() => parseFilter(properties, { defaultType }), 'properties');

/** What the shared layer refuses with 400 is an invalid insight here. */
function orInvalid<T>(read: () => T, attr: string): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) throw invalid(error.message, error.envelope.attr ?? attr);
    throw error;
  }
}

const dateFields = z.object({ date_from: given(words), date_to: given(words), explicit_date: flag });

export function readDates(filters: unknown): DateWords {
  const { date_from: from, date_to: to, explicit_date: explicit } = readFields(dateFields, filters);
  return { from, to, explicit: explicit ?? false };
}

/** `auto` is an addition to the contract. */
export function readInterval(filters: unknown): AskedInterval {
  const { interval } = readFields(z.object({ interval: given(words) }), filters);
  if (interval === 'auto') return 'auto';
  return orInvalid(() => parseInterval(interval), 'interval');
}

const breakdownFields = z.object({
  breakdown: given(z.union([words, z.number(), z.array(z.unknown())])),
  breakdown_type: given(words),
  breakdowns: parseList(
    z.object({ property: z.union([words, z.number(), z.array(z.unknown())]), type: given(words) }),
    10,
  ),
  breakdown_limit: count(1, 1000),
  breakdown_hide_other_aggregation: flag,
  breakdown_histogram_bin_count: given(z.unknown()),
  breakdown_normalize_url: flag,
});

const DEFAULT_BREAKDOWN_LIMIT = 25;

export function readBreakdown(filters: unknown): Breakdown | undefined {
  const fields = readFields(breakdownFields, filters);
  const single = { property: fields.breakdown, type: fields.breakdown_type };
  const [first, second] = fields.breakdowns?.length ? fields.breakdowns : [single];
  const listed: readonly unknown[] = Array.isArray(first?.property) ? first.property : [first?.property];
  const owner = first?.type ?? 'event';
  if (second !== undefined || (listed.length > 1 && owner !== 'cohort')) {
    throw unsupported('A breakdown by several properties is not supported: choose one.', 'breakdown');
  }
  const [property] = listed;
  if (property === undefined) return undefined;
  if (fields.breakdown_histogram_bin_count !== undefined || fields.breakdown_normalize_url === true) {
    throw unsupported('A breakdown in bins or with normalised addresses is not supported.');
  }
  const shown = {
    limit: fields.breakdown_limit ?? DEFAULT_BREAKDOWN_LIMIT,
    hideOther: fields.breakdown_hide_other_aggregation ?? false,
  };
  if (owner === 'cohort') {
    const cohorts = [...new Set(listed.flatMap(readCohortIds))];
    if (cohorts.length > MAX_COHORTS)
      throw invalid(`breakdown: ${MAX_COHORTS} cohorts at most.`, 'breakdown');
    return { owner, cohorts, ...shown, limit: cohorts.length };
  }
  if (typeof property !== 'string')
    throw unsupported('A breakdown must name a property of events or persons.', 'breakdown');
  if (owner === 'session') return { owner, key: readSessionProperty(property), ...shown };
  if (owner !== 'event' && owner !== 'person') {
    throw unsupported(
      `A breakdown by ${owner.slice(0, 40)} is not supported: choose a property of events, persons or sessions, or cohorts.`,
      'breakdown_type',
    );
  }
  return { owner, key: property, ...shown };
}

/** More make a statement that takes longer to plan than to run. */
const MAX_COHORTS = 50;

/** An id, `all`, or the JSON text of a list of them. */
function readCohortIds(given: unknown): (number | typeof EVERYBODY)[] {
  const value = typeof given === 'string' && given.startsWith('[') ? parsed(given) : given;
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.map((one) => {
    if (one === EVERYBODY) return EVERYBODY;
    const id = wholeNumber(one);
    // 0 is another word of clients for everybody.
    if (id === 0) return EVERYBODY;
    if (id !== undefined && id < 2 ** 31) return id;
    throw invalid(
      `breakdown: a breakdown by cohorts takes their ids, whole numbers, or "all". ${WHERE_COHORTS_ARE}`,
      'breakdown',
    );
  });
}

function readSessionProperty(name: string): SessionProperty {
  const known = SESSION_PROPERTIES.find((property) => property === name);
  if (known !== undefined) return known;
  throw unsupported(
    `Sessions have no property "${name.slice(0, 40)}" here, but ${SESSION_PROPERTIES.join(', ')}.`,
    'breakdown',
  );
}
