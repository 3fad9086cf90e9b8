import type { Html } from '../../charts/html.ts';
import type { Queryable } from '../database/db.ts';
import type { JsonObject } from '../http/json.ts';
import type { DateRange } from '../query/date-range.ts';
import type { FilterGroup } from '../query/filter.ts';
import type { AskedInterval } from '../query/interval.ts';
import type { Breakdown, Entity } from './entity.ts';
import type { EventScope } from './events-store.ts';
import type { Steps } from './steps.ts';

export interface DateWords {
  /** As clients write it, `-7d` or `2024-01-31`; undefined for the default of the insight. */
  readonly from: string | undefined;
  /** Undefined: until now. */
  readonly to: string | undefined;
  /** Dates are moments, not whole days. */
  readonly explicit: boolean;
}

/** What the query of every kind has. */
export interface CommonQuery {
  readonly dates: DateWords;
  /** Holds for every event of the insight. */
  readonly filter: FilterGroup;
  /** The share of the events that was asked for (sampling.ts). All are counted. */
  readonly samplingFactor?: number;
}

export interface KindQuery<K extends string> extends CommonQuery {
  readonly insight: K;
}

/** In the shapes that clients of the service read from `result` of an insight. */
export interface KindData<K extends string> {
  readonly insight: K;
  readonly result: unknown;
}

/**
 * One kind of insight: how its filters become a query, the query a result, and the result HTML. Each kind is
 * a folder that exports one such record, registered in registry.ts.
 */
export interface InsightKind<K extends string, Q extends KindQuery<K>, D extends KindData<K>> {
  /** As `insight` of the filters names it. */
  readonly name: K;
  /** The same kind in newer query objects. */
  readonly source: {
    readonly kind: string;
    /** The member that holds the fields of this kind. */
    readonly filterKey: string;
    /**
     * Converts these fields, in snake case, to those of the filters.
     * @default the same fields
     */
    readonly toFilters?: (own: JsonObject) => JsonObject;
  };
  /** Reads the fields of this kind. Throws InsightError. */
  readonly parse: (filters: JsonObject, common: CommonQuery) => Q;
  /** Every entity whose filter the query uses. */
  readonly listEntities: (query: Q) => readonly Entity[];
  /** @default none */
  readonly getBreakdown?: (query: Q) => Breakdown | undefined;
  /** The interval that the date range is rounded to. */
  readonly getInterval: (query: Q) => AskedInterval;
  readonly compute: (
    tx: Queryable,
    steps: Steps,
    scope: EventScope,
    query: Q,
    range: DateRange,
  ) => Promise<D>;
  /** Whether there is nothing to draw. A single number of zero is something to read. */
  readonly isEmpty: (data: D) => boolean;
  readonly render: (data: D) => Html;
}
