import { parseJson } from '../../../lib/json/parse-json.ts';
import { isJsonObject } from '../../http/json.ts';
import { type Filter, type FilterGroup, NO_FILTER } from '../filter.ts';
import { parseFilter } from '../parse-filter.ts';

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

/** What the database holds of it; `filters` is JSON text. */
export interface StoredDefinition {
  readonly id: number;
  readonly isStatic: boolean;
  readonly filters: string;
}

/** A stored definition was read strictly when it was made; what cannot be read any more is ignored. */
export function readDefinition({ id, isStatic, filters }: StoredDefinition): CohortDefinition {
  const value = parseJson(filters);
  const properties = isJsonObject(value) ? value['properties'] : undefined;
  const filter = isStatic ? NO_FILTER : parseFilter(properties, { defaultType: 'person', anyPattern: true });
  return { id, isStatic, filter, properties };
}

/** The cohorts that a filter names itself. */
export function cohortIdsIn(filter: Filter): number[] {
  if (filter.kind === 'cohort') return [filter.cohortId];
  return filter.kind === 'group' ? filter.members.flatMap(cohortIdsIn) : [];
}
