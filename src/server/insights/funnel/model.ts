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
}

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

export interface FunnelData extends KindData<'FUNNELS'> {
  readonly result: FunnelSteps;
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
