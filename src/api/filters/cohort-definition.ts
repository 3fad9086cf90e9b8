import type { Filter, FilterGroup } from './filter.ts';

/** What a cohort's members have in common, as filters need it. */
export interface CohortDefinition {
  readonly id: number;
  readonly isStatic: boolean;
  /** What makes a member of a dynamic one. */
  readonly filter: FilterGroup;
  /** The same as its maker wrote it: `{type, values}`. */
  readonly properties: unknown;
}

export type CohortDefinitions = ReadonlyMap<number, CohortDefinition>;

/** The cohorts that a filter names itself. */
export function cohortIdsIn(filter: Filter): number[] {
  if (filter.kind === 'cohort') return [filter.cohortId];
  return filter.kind === 'group' ? filter.members.flatMap(cohortIdsIn) : [];
}
