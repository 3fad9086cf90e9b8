import type { JsonObject } from '../../http/json.ts';
import type { AskedInterval } from '../../query/interval.ts';
import type { Entity } from '../entity.ts';
import type { KindData, KindQuery } from '../insight-kind.ts';

export interface LifecycleQuery extends KindQuery<'LIFECYCLE'> {
  readonly entity: Entity;
  readonly interval: AskedInterval;
}

export const LIFECYCLE_STATUSES = ['new', 'returning', 'resurrecting', 'dormant'] as const;
export type LifecycleStatus = (typeof LIFECYCLE_STATUSES)[number];

export interface LifecycleData extends KindData<'LIFECYCLE'> {
  readonly result: readonly LifecycleSeries[];
}

export interface LifecycleSeries {
  /** The entity that is counted, as in the filters. */
  readonly action: JsonObject;
  readonly label: string;
  readonly status: LifecycleStatus;
  /** Persons an interval; of `dormant` below zero. */
  readonly data: readonly number[];
  readonly count: number;
  readonly labels: readonly string[];
  readonly days: readonly string[];
}
