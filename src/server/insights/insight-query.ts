import { type JsonObject, sameJson } from '../http/json.ts';
import type { FilterGroup } from '../query/filter.ts';
import type { Interval } from '../query/interval.ts';

/**
 * What an insight asks, as parse-insight-filters.ts reads it from the filters that clients write. Each kind
 * has a file that turns it into a result.
 */
export type InsightQuery =
  | TrendsQuery
  | FunnelQuery
  | RetentionQuery
  | LifecycleQuery
  | StickinessQuery
  | PathsQuery;

export interface DateWords {
  /** As clients write it, `-7d` or `2024-01-31`; undefined for the default of the insight. */
  readonly from: string | undefined;
  /** Undefined: until now. */
  readonly to: string | undefined;
  /** Dates are moments, not whole days. */
  readonly explicit: boolean;
}

interface CommonQuery {
  readonly dates: DateWords;
  /** Holds for every event that is looked at. */
  readonly filter: FilterGroup;
}

/** Events of one name, or all. */
export interface Entity {
  /** Null: every event. */
  readonly event: string | null;
  /** For people. */
  readonly name: string;
  readonly customName: string | null;
  /** Place in the filters, from 0. */
  readonly order: number;
  readonly filter: FilterGroup;
  /** The same as `action` of a result. */
  readonly action: JsonObject;
}

/** Asks for the same events. */
export const isSameEntity = (a: Entity, b: Entity): boolean =>
  a.event === b.event && sameJson(a.filter, b.filter);

export interface PropertyOf {
  readonly owner: 'event' | 'person';
  readonly key: string;
}

export const PROPERTY_MATHS = ['sum', 'avg', 'min', 'max', 'median', 'p90', 'p95', 'p99'] as const;
export type PropertyMath = (typeof PROPERTY_MATHS)[number];

export const COUNT_MATHS = ['total', 'dau', 'weekly_active', 'monthly_active', 'unique_session'] as const;
export type CountMath = (typeof COUNT_MATHS)[number];

export type Measure =
  | { readonly math: CountMath }
  | { readonly math: PropertyMath; readonly property: PropertyOf };

export interface Series extends Entity {
  readonly measure: Measure;
}

export interface Breakdown extends PropertyOf {
  /** Values beyond are added up under `Other`. */
  readonly limit: number;
  readonly hideOther: boolean;
}

export interface TrendsQuery extends CommonQuery {
  readonly insight: 'TRENDS';
  readonly series: readonly Series[];
  readonly interval: Interval;
  readonly breakdown: Breakdown | undefined;
  readonly display: Display;
  readonly compare: boolean;
}

export const DISPLAYS = [
  'ActionsLineGraph',
  'ActionsLineGraphCumulative',
  'ActionsAreaGraph',
  'ActionsBar',
  'ActionsStackedBar',
  'ActionsUnstackedBar',
  'ActionsBarValue',
  'ActionsTable',
  'ActionsPie',
  'BoldNumber',
  'WorldMap',
] as const;
export type Display = (typeof DISPLAYS)[number];

/** Displays of one number a series. */
export const AGGREGATED_DISPLAYS: ReadonlySet<Display> = new Set<Display>([
  'ActionsBarValue',
  'ActionsTable',
  'ActionsPie',
  'BoldNumber',
  'WorldMap',
]);

export interface FunnelQuery extends CommonQuery {
  readonly insight: 'FUNNELS';
  /** Two at least. */
  readonly steps: readonly Entity[];
  readonly order: FunnelOrder;
  readonly window: FunnelWindow;
  readonly exclusions: readonly FunnelExclusion[];
  readonly breakdown: Breakdown | undefined;
  /** Whose value of the breakdown a person gets: of the first or of the last step event that has one. */
  readonly attribution: 'first_touch' | 'last_touch';
}

export const FUNNEL_ORDERS = ['ordered', 'strict', 'unordered'] as const;
export type FunnelOrder = (typeof FUNNEL_ORDERS)[number];

export const WINDOW_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month'] as const;

export interface FunnelWindow {
  readonly count: number;
  readonly unit: (typeof WINDOW_UNITS)[number];
}

/** A go in which this was done between the two steps does not count. */
export interface FunnelExclusion extends Entity {
  /** Steps from 0; `from` is before `to`. */
  readonly from: number;
  readonly to: number;
}

export interface RetentionQuery extends CommonQuery {
  readonly insight: 'RETENTION';
  readonly target: Entity;
  readonly returning: Entity;
  readonly period: Interval;
  readonly totalIntervals: number;
  /** Only the first target event ever puts a person into a row. */
  readonly firstTime: boolean;
}

export interface LifecycleQuery extends CommonQuery {
  readonly insight: 'LIFECYCLE';
  readonly entity: Entity;
  readonly interval: Interval;
}

export interface StickinessQuery extends CommonQuery {
  readonly insight: 'STICKINESS';
  readonly series: readonly Entity[];
  readonly interval: Interval;
}

export interface PathsQuery extends CommonQuery {
  readonly insight: 'PATHS';
  readonly include: {
    readonly pageviews: boolean;
    readonly screens: boolean;
    /** Every event whose name does not begin with `$`. */
    readonly custom: boolean;
    readonly events: readonly string[];
  };
  /** Items that are left out. */
  readonly exclude: readonly string[];
  readonly startPoint: string | undefined;
  readonly endPoint: string | undefined;
  readonly stepLimit: number;
  readonly edgeLimit: number;
  readonly minEdgeWeight: number | undefined;
  readonly maxEdgeWeight: number | undefined;
  /** Items that match `*` patterns become the pattern. */
  readonly groupings: readonly string[];
}
