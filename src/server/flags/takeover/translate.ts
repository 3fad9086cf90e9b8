import type { FlagFilters } from '../../../../config/flags.ts';
import type { ExportedFlag, FlagExport } from './read-export.ts';

/** What ids of the service that an export comes from are here. */
export interface Names {
  /** Index of a type of groups here, by its name. */
  readonly groupTypes: ReadonlyMap<string, number>;
  /** Id of a cohort here, by its id there. */
  readonly cohorts: ReadonlyMap<number, number>;
}

type Condition = NonNullable<FlagFilters['groups']>[number];
type Property = NonNullable<Condition['properties']>[number];

/** Why a flag cannot be expressed here. */
export class UntranslatableError extends Error {}

/**
 * The same definition with the ids of this project: types of groups, cohorts, and other flags by their key.
 *
 * @throws UntranslatableError
 */
export function translateFilters(flag: ExportedFlag, from: FlagExport, names: Names): FlagFilters {
  const toIndex = (index: number) => translateIndex(index, from, names);
  const properties = (list: readonly Property[] | null | undefined) =>
    list?.map((property) => translateProperty(property, from, names, toIndex));
  const conditions = (list: readonly Condition[] | null | undefined) =>
    list?.map((condition) => ({
      ...condition,
      ...translateOwner(condition),
      properties: properties(condition.properties) ?? [],
    }));
  const translateOwner = ({ aggregation_group_type_index: index }: Condition | FlagFilters) =>
    index === null || index === undefined ? {} : { aggregation_group_type_index: toIndex(index) };
  const { filters } = flag;
  return {
    ...filters,
    ...(filters.groups ? { groups: conditions(filters.groups) } : {}),
    ...(filters.holdout_groups ? { holdout_groups: conditions(filters.holdout_groups) } : {}),
    ...(filters.super_groups ? { super_groups: conditions(filters.super_groups) } : {}),
    ...(filters.properties ? { properties: properties(filters.properties) } : {}),
    ...translateOwner(filters),
  };
}

function translateIndex(index: number, { groupTypes }: FlagExport, names: Names): number {
  const name = groupTypes.get(index);
  // Without names the indexes are taken as they are: a project that is migrated whole has them alike.
  if (name === undefined) return index;
  const here = names.groupTypes.get(name);
  if (here !== undefined) return here;
  throw new UntranslatableError(`groups of the type "${name}" are not known here: import them first`);
}

function translateProperty(
  property: Property,
  from: FlagExport,
  names: Names,
  toIndex: (index: number) => number,
): Property {
  if (property.type === 'cohort') return { ...property, value: translateCohorts(property.value, names) };
  if (property.type === 'flag') return { ...property, key: translateFlag(property.key, from) };
  const index = property.group_type_index;
  return typeof index === 'number' ? { ...property, group_type_index: toIndex(index) } : property;
}

function translateCohorts(value: unknown, { cohorts }: Names): unknown {
  const translated = (Array.isArray(value) ? value : [value]).map((id) => {
    const here = cohorts.get(Number(id));
    if (here !== undefined) return here;
    throw new UntranslatableError(
      `cohort ${String(id)} is not in the export, or cannot be made here (static, or by events)`,
    );
  });
  return Array.isArray(value) ? translated : translated[0];
}

function translateFlag(name: string | number, { flags }: FlagExport): string {
  const other = findNamed(flags, String(name));
  if (other !== undefined) return other.key;
  throw new UntranslatableError(`it depends on the flag ${name}, which is not in the export`);
}

/** By id before key, as decisions resolve names. */
const findNamed = (flags: readonly ExportedFlag[], name: string): ExportedFlag | undefined =>
  flags.find(({ id }) => String(id) === name) ?? flags.find(({ key }) => key === name);

/** Each flag after those that it depends on, as far as that is possible. */
export function sortByDependency(flags: readonly ExportedFlag[]): ExportedFlag[] {
  const sorted = new Set<ExportedFlag>();
  const open = new Set<ExportedFlag>();
  function visit(flag: ExportedFlag): void {
    if (sorted.has(flag) || open.has(flag)) return;
    open.add(flag);
    for (const name of listDependencies(flag)) {
      const other = findNamed(flags, name);
      if (other !== undefined) visit(other);
    }
    open.delete(flag);
    sorted.add(flag);
  }
  for (const flag of flags) visit(flag);
  return [...sorted];
}

const listDependencies = ({ filters }: ExportedFlag): string[] =>
  (filters.groups ?? []).flatMap(({ properties }) =>
    (properties ?? []).flatMap(({ type, key }) => (type === 'flag' ? [String(key)] : [])),
  );

/** Ids of the cohorts that an export's flags name. */
export const listCohortIds = ({ flags }: FlagExport): number[] => [
  ...new Set(
    flags.flatMap(({ filters }) =>
      [...(filters.groups ?? []), { properties: filters.properties }].flatMap(({ properties }) =>
        (properties ?? []).flatMap(({ type, value }) =>
          type === 'cohort' ? (Array.isArray(value) ? value : [value]).map(Number) : [],
        ),
      ),
    ),
  ),
];
