import type { JsonObject } from '../http/json.ts';

/**
 * What insights give, in the shapes that clients of the service read from `result` of an insight. Times of
 * intervals come twice: `days` for machines (`2024-01-31`, hourly `2024-01-31 08:00:00`), `labels` for
 * people (`31-Jan-2024`, hourly `31-Jan-2024 08:00`).
 */
export type InsightData =
  | { readonly insight: 'TRENDS'; readonly display: string; readonly result: readonly TrendSeries[] }
  | { readonly insight: 'LIFECYCLE'; readonly result: readonly LifecycleSeries[] }
  | { readonly insight: 'STICKINESS'; readonly result: readonly StickinessSeries[] }
  | { readonly insight: 'RETENTION'; readonly result: readonly RetentionRow[] }
  | { readonly insight: 'PATHS'; readonly result: readonly PathEdge[] }
  /** Steps; with a breakdown a list of steps for each value. */
  | {
      readonly insight: 'FUNNELS';
      readonly result: readonly FunnelStep[] | readonly (readonly FunnelStep[])[];
    };

/** The entity that a series counts, as in the filters. */
export type SeriesEntity = JsonObject;

/** What stands for all values of a breakdown beyond its limit. */
export const OTHER_VALUES = '$$_breakdown_other_$$';

export interface TrendSeries {
  readonly action: SeriesEntity;
  readonly label: string;
  /** Sum of `data`, or the aggregated value. */
  readonly count: number;
  /** A value an interval; empty for displays of one number a series. */
  readonly data: readonly number[];
  readonly labels: readonly string[];
  readonly days: readonly string[];
  /** Displays of one number a series: the value over the whole range. */
  readonly aggregated_value?: number;
  /** With a breakdown: its value as text; empty for events without one, OTHER_VALUES for all beyond the limit. */
  readonly breakdown_value?: string;
  readonly compare?: boolean;
  readonly compare_label?: 'current' | 'previous';
}

export const LIFECYCLE_STATUSES = ['new', 'returning', 'resurrecting', 'dormant'] as const;
export type LifecycleStatus = (typeof LIFECYCLE_STATUSES)[number];

export interface LifecycleSeries {
  readonly action: SeriesEntity;
  readonly label: string;
  readonly status: LifecycleStatus;
  /** People an interval; of `dormant` below zero. */
  readonly data: readonly number[];
  readonly count: number;
  readonly labels: readonly string[];
  readonly days: readonly string[];
}

export interface StickinessSeries {
  readonly action: SeriesEntity;
  readonly label: string;
  /** People who were active in exactly `days[i]` intervals. */
  readonly data: readonly number[];
  readonly count: number;
  readonly days: readonly number[];
  readonly labels: readonly string[];
}

export interface RetentionRow {
  readonly date: string;
  readonly label: string;
  /** People of this row who came back so many periods later; the first is the row's size. */
  readonly values: readonly { readonly count: number }[];
}

export interface FunnelStep {
  readonly action_id: string | number | null;
  readonly name: string;
  readonly custom_name: string | null;
  readonly order: number;
  readonly type: string;
  /** People who came this far. */
  readonly count: number;
  /** Seconds from the step before; null at the first step and where nobody came. */
  readonly average_conversion_time: number | null;
  readonly median_conversion_time: number | null;
  readonly breakdown?: readonly string[];
  readonly breakdown_value?: readonly string[];
}

export interface PathEdge {
  /** `1_/home`: position in the path and item. */
  readonly source: string;
  readonly target: string;
  /** Sessions that went this way. */
  readonly value: number;
  /** Milliseconds. */
  readonly average_conversion_time: number;
}
