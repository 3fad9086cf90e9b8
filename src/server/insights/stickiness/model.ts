import type { JsonObject } from '../../http/json.ts';
import type { AskedInterval } from '../../query/interval.ts';
import type { Entity } from '../entity.ts';
import type { KindData, KindQuery } from '../insight-kind.ts';

export interface StickinessQuery extends KindQuery<'STICKINESS'> {
  readonly series: readonly Entity[];
  readonly interval: AskedInterval;
}

export interface StickinessData extends KindData<'STICKINESS'> {
  readonly result: readonly StickinessSeries[];
}

export interface StickinessSeries {
  /** The entity that is counted, as in the filters. */
  readonly action: JsonObject;
  readonly label: string;
  /** Persons who were active in exactly `days[i]` intervals. */
  readonly data: readonly number[];
  readonly count: number;
  readonly days: readonly number[];
  readonly labels: readonly string[];
}
