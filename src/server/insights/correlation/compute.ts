import { z } from 'zod';
import type { Semaphore } from '../../../lib/async/semaphore.ts';
import type { Db } from '../../database/db.ts';
import type { JsonObject } from '../../http/json.ts';
import { askDatabase, type Moment } from '../ask-database.ts';
import { parseFunnel } from '../funnel/parse.ts';
import { invalid } from '../insight-error.ts';
import { wholeRange } from '../intervals.ts';
import { readCommon } from '../parse/common.ts';
import { oneOf, parseList, readFields, words } from '../parse/fields.ts';
import { type CorrelationRow, computeOdds, isRare, isSkewed, type Odds } from './odds.ts';
import { type CorrelatedThings, countCorrelated } from './store.ts';

const CORRELATION_TYPES = ['events', 'event_with_properties', 'properties'] as const;

const MAX_NAMES = 100;
/** In each direction. */
const MOST_SHOWN = 10;

const correlationFields = z.object({
  funnel_correlation_type: oneOf(CORRELATION_TYPES),
  funnel_correlation_names: parseList(words, MAX_NAMES),
  funnel_correlation_exclude_names: parseList(words, MAX_NAMES),
  funnel_correlation_exclude_event_names: parseList(words, MAX_NAMES),
  funnel_correlation_event_names: parseList(words, MAX_NAMES),
  funnel_correlation_event_exclude_property_names: parseList(words, MAX_NAMES),
});

/** The parameters besides those of the funnel, with what they are. */
export const CORRELATION_PARAMETERS = {
  funnel_correlation_type: '`events` (default), `event_with_properties` or `properties`.',
  funnel_correlation_names:
    'JSON: names of properties of persons, `["$all"]` for every one. Required for `properties`.',
  funnel_correlation_exclude_names: 'JSON: names of properties of persons that are left out.',
  funnel_correlation_exclude_event_names: 'JSON: names of events that are left out.',
  funnel_correlation_event_names: 'JSON: names of events. Required for `event_with_properties`.',
  funnel_correlation_event_exclude_property_names: 'JSON: names of properties of events that are left out.',
} as const;

export interface Correlation extends Odds {
  /** The event; `property::value` of persons; `event::property::value`. */
  readonly name: string;
  /** Persons who have it and converted, and those who did not. */
  readonly success: number;
  readonly failure: number;
}

export interface Correlations {
  /** Those that go with converting, strongest first, then those that go against it. */
  readonly found: readonly Correlation[];
  readonly successTotal: number;
  readonly failureTotal: number;
  readonly isSkewed: boolean;
}

/** What persons of a funnel did or are who convert more, or less, often than others. Throws InsightError. */
export type CorrelationFinder = (db: Db, projectId: number, filters: JsonObject) => Promise<Correlations>;

export interface CorrelationOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Shared with insights. */
  readonly runInTurn: Semaphore;
  /**
   * How long the database may work on it.
   * @default 10000
   */
  readonly timeLimitMs?: number;
  /** For tests. */
  readonly sizes?: Moment['sizes'];
}

const TIME_LIMIT_MS = 10_000;

export function createCorrelationFinder({
  now,
  runInTurn,
  timeLimitMs = TIME_LIMIT_MS,
  sizes = {},
}: CorrelationOptions): CorrelationFinder {
  return async (db, projectId, filters) => {
    const query = { ...parseFunnel(filters, readCommon(filters)), breakdown: undefined };
    const things = readThings(filters);
    const rows = await runInTurn(() =>
      askDatabase(
        db,
        {
          projectId,
          dates: query.dates,
          interval: 'day',
          filter: query.filter,
          entities: [...query.steps, ...query.exclusions],
          answer: (tx, steps, scope, range) =>
            countCorrelated(tx, steps, scope, wholeRange(range), query, things),
        },
        { now: now(), timeLimitMs, sizes },
      ),
    );
    return toCorrelations(rows);
  };
}

function readThings(filters: JsonObject): CorrelatedThings {
  const fields = readFields(correlationFields, filters);
  const type = fields.funnel_correlation_type ?? 'events';
  switch (type) {
    case 'events':
      return { type, excluded: fields.funnel_correlation_exclude_event_names ?? [] };
    case 'event_with_properties': {
      const events = fields.funnel_correlation_event_names ?? [];
      const excluded = fields.funnel_correlation_event_exclude_property_names ?? [];
      if (events.length > 0) return { type, events, excluded };
      throw invalid(
        'Event Property Correlation expects atleast one event name',
        'funnel_correlation_event_names',
      );
    }
    case 'properties': {
      const names = fields.funnel_correlation_names ?? [];
      const excluded = fields.funnel_correlation_exclude_names ?? [];
      if (names.length > 0) return { type, names: names.includes('$all') ? undefined : names, excluded };
      throw invalid('Property Correlation expects atleast one Property', 'funnel_correlation_names');
    }
  }
}

export function toCorrelations(rows: readonly CorrelationRow[]): Correlations {
  const all = rows.find(({ label }) => label === null);
  const [successTotal, failureTotal] = [all?.success ?? 0, all?.failure ?? 0];
  const known = rows.flatMap(({ label, success, failure }) => {
    const counts = { success, failure, successTotal, failureTotal };
    if (label === null || isRare(counts)) return [];
    return [{ name: label.join('::'), success, failure, ...computeOdds(counts) }];
  });
  const byName = (one: Correlation, other: Correlation) => (one.name < other.name ? -1 : 1);
  const pick = (direction: Odds['direction'], sign: 1 | -1) =>
    known
      .filter((one) => one.direction === direction)
      .sort((one, other) => sign * (one.ratio - other.ratio) || byName(one, other))
      .slice(0, MOST_SHOWN);
  return {
    found: [...pick('success', -1), ...pick('failure', 1)],
    successTotal,
    failureTotal,
    isSkewed: isSkewed(successTotal, failureTotal),
  };
}
