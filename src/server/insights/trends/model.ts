import type { JsonObject } from '../../http/json.ts';
import type { AskedInterval } from '../../query/interval.ts';
import { type Breakdown, OTHER_VALUES, type Series } from '../entity.ts';
import type { KindData, KindQuery } from '../insight-kind.ts';
import type { Formula } from './formula.ts';

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

export interface TrendsQuery extends KindQuery<'TRENDS'> {
  readonly series: readonly Series[];
  readonly interval: AskedInterval;
  readonly breakdown: Breakdown | undefined;
  readonly display: Display;
  readonly compare: boolean;
  /** How many intervals each point is the mean of; 1: lines are as counted. */
  readonly smoothing: number;
  /** Shown instead of the series, which they are computed from. */
  readonly formulas: readonly NamedFormula[];
}

export interface NamedFormula {
  readonly formula: Formula;
  readonly name: string;
}

export interface TrendsData extends KindData<'TRENDS'> {
  readonly display: string;
  /** How many intervals each point is the mean of, where it is not one. */
  readonly smoothing?: number;
  readonly result: readonly TrendSeries[];
}

/** A value of a breakdown as people read it. */
export const describeValue = (value: string | number): string =>
  value === OTHER_VALUES ? 'Other' : String(value) || 'none';

export interface TrendSeries {
  /** The entity that is counted, as in the filters; null for a formula. */
  readonly action: JsonObject | null;
  readonly label: string;
  /** Sum of `data`, or the aggregated value. */
  readonly count: number;
  /** A value an interval; empty for displays of one number a series. */
  readonly data: readonly number[];
  readonly labels: readonly string[];
  readonly days: readonly string[];
  /** Displays of one number a series: the value over the whole range. */
  readonly aggregated_value?: number;
  /**
   * With a breakdown: its value as text; empty for events without one, OTHER_VALUES for all beyond the limit; of
   * cohorts the id, or `all`.
   */
  readonly breakdown_value?: string | number;
  readonly compare?: boolean;
  readonly compare_label?: 'current' | 'previous';
}
