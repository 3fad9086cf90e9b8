import type { AskedInterval } from '../../query/interval.ts';
import type { Breakdown, Entity } from '../entity.ts';
import type { KindData, KindQuery } from '../insight-kind.ts';

export interface FunnelQuery extends KindQuery<'FUNNELS'> {
  /** Two at least. */
  readonly steps: readonly Entity[];
  readonly order: FunnelOrder;
  readonly window: FunnelWindow;
  readonly exclusions: readonly FunnelExclusion[];
  readonly breakdown: Breakdown | undefined;
  /** Whose value of the breakdown a person gets: of the first or of the last step event that has one. */
  readonly attribution: 'first_touch' | 'last_touch';
  readonly shown: FunnelView;
  /** Over time: the length of the periods in which persons enter. */
  readonly interval: AskedInterval;
  /** Steps from 0, `from` before `to`: over time and of times, who reached the first, and who the last of these. */
  readonly span: { readonly from: number; readonly to: number };
  /** Of times: how many bins they are put into; undefined for as many as fit the number of persons. */
  readonly binCount: number | undefined;
}

/** Persons by step; the share of them who converted over time; how long these took. */
export const FUNNEL_VIEWS = ['steps', 'trends', 'time_to_convert'] as const;
export type FunnelView = (typeof FUNNEL_VIEWS)[number];

export const FUNNEL_ORDERS = ['ordered', 'strict', 'unordered'] as const;
export type FunnelOrder = (typeof FUNNEL_ORDERS)[number];

export const WINDOW_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month'] as const;

export interface FunnelWindow {
  readonly count: number;
  readonly unit: (typeof WINDOW_UNITS)[number];
}

/** An attempt with such an event between the two steps does not count. */
export interface FunnelExclusion extends Entity {
  /** Steps from 0; `from` is before `to`. */
  readonly from: number;
  readonly to: number;
}

/** Steps; with a breakdown a list of steps for each value. */
export type FunnelSteps = readonly FunnelStep[] | readonly (readonly FunnelStep[])[];

export type FunnelData = FunnelStepData | FunnelRateData | FunnelTimeData;

export interface FunnelStepData extends KindData<'FUNNELS'> {
  readonly shown: 'steps';
  readonly result: FunnelSteps;
}

export interface FunnelRateData extends KindData<'FUNNELS'> {
  readonly shown: 'trends';
  readonly result: readonly FunnelRates[];
}

export interface FunnelTimeData extends KindData<'FUNNELS'> {
  readonly shown: 'time_to_convert';
  readonly result: FunnelTimes;
}

/** A line over the periods in which persons entered. */
export interface FunnelRates {
  /** Of periods. */
  readonly count: number;
  /** Of those who reached the first of the two steps, the percentage who reached the last. */
  readonly data: readonly number[];
  readonly days: readonly string[];
  readonly labels: readonly string[];
  /** Persons by period. */
  readonly reached_from_step_count: readonly number[];
  readonly reached_to_step_count: readonly number[];
  /** For display. */
  readonly breakdown?: readonly string[];
  readonly breakdown_value?: readonly string[];
}

export interface FunnelTimes {
  /** Seconds at which a bin begins, and the persons in it; the next one begins where it ends. */
  readonly bins: readonly (readonly [seconds: number, persons: number])[];
  /** Seconds. */
  readonly bin_width: number;
  /** Seconds; null where nobody came. */
  readonly average_conversion_time: number | null;
}

export interface FunnelStep {
  readonly action_id: string | number | null;
  readonly name: string;
  readonly custom_name: string | null;
  readonly order: number;
  readonly type: string;
  /** Persons who came this far. */
  readonly count: number;
  /** Seconds from the step before; null at the first step and where nobody came. */
  readonly average_conversion_time: number | null;
  readonly median_conversion_time: number | null;
  readonly breakdown?: readonly string[];
  readonly breakdown_value?: readonly string[];
}
