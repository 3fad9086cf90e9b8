import { type JsonObject, sameJson } from '../http/json.ts';
import type { FilterGroup } from '../query/filter.ts';

/** Events of one name, or all. */
export interface Entity {
  /** Null: every event. */
  readonly event: string | null;
  /** As it is displayed. */
  readonly name: string;
  readonly customName: string | null;
  /** Place in the filters, from 0. */
  readonly order: number;
  readonly filter: FilterGroup;
  /** The same as `action` of a result. */
  readonly action: JsonObject;
}

/** Selects the same events. */
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
