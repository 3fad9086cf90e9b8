import { type JsonObject, sameJson } from '../http/json.ts';
import type { FilterGroup } from '../query/filter.ts';

/** Events of one name, those of an action, or all. */
export interface Entity {
  /** Null: whatever their name. */
  readonly event: string | null;
  /** The action whose events these are, and the parameter that names it. */
  readonly saved?: { readonly actionId: number; readonly attr: string };
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
  a.event === b.event && a.saved?.actionId === b.saved?.actionId && sameJson(a.filter, b.filter);

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

/** What gives an event its value: a property, one of its session, or the cohorts that its person is in. */
export type BreakdownBy =
  | PropertyOf
  | { readonly owner: 'session'; readonly key: SessionProperty }
  | { readonly owner: 'cohort'; readonly cohorts: readonly (number | typeof EVERYBODY)[] };

export type Breakdown = BreakdownBy & {
  /** Values beyond are added up under `Other`. */
  readonly limit: number;
  readonly hideOther: boolean;
};

/** Stands for all values of a breakdown beyond its limit. */
export const OTHER_VALUES = '$$_breakdown_other_$$';

/** Among cohorts: whoever it is. */
export const EVERYBODY = 'all';

export const SESSION_PROPERTIES = [
  '$session_duration',
  '$entry_current_url',
  '$entry_pathname',
  '$end_current_url',
  '$end_pathname',
  '$pageview_count',
  '$screen_count',
  '$autocapture_count',
] as const;
export type SessionProperty = (typeof SESSION_PROPERTIES)[number];
