import type { ExactNumber } from '../../lib/json/exact-number.ts';
import { SEMVER_TESTS } from './match/semver.ts';

/**
 * The tree that `properties` of a request, the definition of a cohort and the conditions of a flag are read
 * into (parse-filter.ts) and turned into SQL from (compile-filter.ts).
 */
export type Filter = FilterGroup | PropertyFilter | CohortFilter | BehaviourFilter;

/** Without members it asks for nothing: everything matches. */
export interface FilterGroup {
  readonly kind: 'group';
  readonly operator: 'and' | 'or';
  readonly members: readonly Filter[];
}

/** Whose properties are looked at. */
export type Owner = 'event' | 'person' | 'group';

export type Scalar = string | number | boolean | ExactNumber;

export interface PropertyFilter {
  readonly kind: 'property';
  readonly owner: Owner;
  /** Owner `group`: which type of group. */
  readonly groupTypeIndex?: number;
  readonly key: string;
  readonly operator: Operator;
  /** Any of them; a range has two. Empty where the operator takes none. */
  readonly values: readonly Scalar[];
  /** The opposite of what operator and values say. */
  readonly negated: boolean;
}

/** Membership of a person. */
export interface CohortFilter {
  readonly kind: 'cohort';
  readonly cohortId: number;
  readonly negated: boolean;
}

/** A person did something, in a window of time that ends now. */
export interface BehaviourFilter {
  readonly kind: 'behaviour';
  /** Events of a name, or those of an action. */
  readonly did: { readonly event: string } | { readonly actionId: number };
  /** Properties that the events must have. */
  readonly eventFilter: FilterGroup;
  readonly window: TimeSpan;
  /**
   * How often; at least once in any case.
   * @default once or more
   */
  readonly times?: { readonly comparison: Comparison; readonly count: number };
  readonly negated: boolean;
}

export interface TimeSpan {
  readonly count: number;
  readonly unit: TimeUnit;
}

export type TimeUnit = 'hour' | 'day' | 'week' | 'month' | 'year';

export type Comparison = 'gt' | 'gte' | 'lt' | 'lte' | 'eq';

/** What a property is asked. */
export const TESTS = [
  'exact',
  'icontains',
  'regex',
  'starts_with',
  'ends_with',
  'gt',
  'gte',
  'lt',
  'lte',
  'between',
  'is_set',
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  ...SEMVER_TESTS,
] as const;

export type Test = (typeof TESTS)[number];

/** Operators that say the opposite of a test. A property that is missing passes them. */
export const NEGATIONS = {
  is_not: 'exact',
  not_icontains: 'icontains',
  not_regex: 'regex',
  not_starts_with: 'starts_with',
  not_ends_with: 'ends_with',
  not_between: 'between',
  is_not_set: 'is_set',
  semver_neq: 'semver_eq',
} as const satisfies Record<string, Test>;

export type Operator = Test | keyof typeof NEGATIONS;

export const NO_FILTER: FilterGroup = { kind: 'group', operator: 'and', members: [] };

/** The behaviours that a filter asks for itself. */
export function behavioursIn(filter: Filter): BehaviourFilter[] {
  if (filter.kind === 'behaviour') return [filter];
  return filter.kind === 'group' ? filter.members.flatMap(behavioursIn) : [];
}
