import type { FlagFilters } from '../../../config/flags.ts';
import { type ApiError, invalidInput } from '../http/errors.ts';
import { toText } from '../http/json.ts';
import { type Filter, type FilterGroup, NO_FILTER } from '../query/filter.ts';
import { parseFilter } from '../query/parse-filter.ts';
import {
  type Condition,
  type Dependency,
  type Flag,
  type Holdout,
  indexByName,
  toEnrolmentKey,
  type Variant,
} from './flag.ts';

/** What a definition is read from. */
export interface FlagSource {
  readonly id: number;
  readonly key: string;
  readonly version: number;
  readonly keepsValue: boolean;
  readonly filters: FlagFilters;
}

type GivenCondition = NonNullable<FlagFilters['groups']>[number];

/** Reads a definition strictly: nothing of it is ignored. Throws an ApiError (400) that names the mistake. */
export function parseFlag({ id, key, version, keepsValue, filters }: FlagSource): Flag {
  const groupTypeIndex = filters.aggregation_group_type_index ?? null;
  const variants = parseVariants(filters);
  const conditions = listConditions(filters).map((given) => parseCondition(given, groupTypeIndex, variants));
  const [superGroup] = filters.super_groups ?? [];
  return {
    id,
    key,
    version,
    keepsValue,
    groupTypeIndex,
    conditions,
    variants,
    payloads: parsePayloads(filters, variants),
    superCondition: filters.feature_enrollment
      ? createEnrolment(key)
      : superGroup && parseCondition(superGroup, groupTypeIndex, []),
    holdout: parseHoldout(filters),
  };
}

/** A definition without conditions is an old one: its properties are those of the only condition. */
function listConditions({ groups, properties, rollout_percentage }: FlagFilters): readonly GivenCondition[] {
  return groups ?? [{ properties, rollout_percentage }];
}

const mistake = (detail: string): ApiError => invalidInput(detail, 'filters');

function parseCondition(
  { properties, rollout_percentage, variant, aggregation_group_type_index: ownIndex }: GivenCondition,
  groupTypeIndex: number | null,
  variants: readonly Variant[],
): Condition {
  if (variant && !variants.some(({ key }) => key === variant)) {
    throw mistake(`A condition names the variant "${variant}", which the flag does not have.`);
  }
  if (ownIndex !== undefined && ownIndex !== groupTypeIndex) {
    throw mistake(
      `A condition is about ${describeSubject(ownIndex)}, and the flag about ${describeSubject(groupTypeIndex)} (aggregation_group_type_index): all conditions of a flag are about the same.`,
    );
  }
  const given = properties ?? [];
  const others = given.filter(({ type }) => type !== 'flag');
  const filter =
    others.length === 0
      ? NO_FILTER
      : parseFilter(others, { defaultType: 'person', attr: 'filters', strict: true, anyPattern: true });
  checkOwners(filter, groupTypeIndex);
  return {
    filter,
    dependencies: given.filter(({ type }) => type === 'flag').map(parseDependency),
    rolloutPercentage: rollout_percentage ?? 100,
    variant: variant || undefined,
  };
}

const describeSubject = (index: number | null): string =>
  index === null ? 'persons' : `groups of type ${index}`;

function parseDependency({
  key,
  operator,
  value,
}: {
  readonly key: string | number;
  readonly operator?: string | null | undefined;
  readonly value?: unknown;
}): Dependency {
  if (
    operator !== undefined &&
    operator !== null &&
    operator !== 'flag_evaluates_to' &&
    operator !== 'exact'
  ) {
    throw mistake(`The operator of a condition on the flag "${key}" must be flag_evaluates_to.`);
  }
  if (typeof value !== 'boolean' && typeof value !== 'string') {
    throw mistake(
      `The value of a condition on the flag "${key}" must be true, false or the key of a variant.`,
    );
  }
  return { flag: String(key), value: value === 'true' ? true : value === 'false' ? false : value };
}

/** Flags of persons ask about persons and cohorts, flags of groups about groups of their own type. */
function checkOwners(filter: FilterGroup, groupTypeIndex: number | null): void {
  for (const member of filter.members) {
    if (member.kind === 'group') checkOwners(member, groupTypeIndex);
    else if (!fits(member, groupTypeIndex)) {
      throw mistake(
        groupTypeIndex === null
          ? 'Filters are not valid (can only use person and cohort properties).'
          : `Filters are not valid (can only use group properties of type ${groupTypeIndex}).`,
      );
    }
  }
}

function fits(leaf: Exclude<Filter, FilterGroup>, groupTypeIndex: number | null): boolean {
  if (leaf.kind === 'behaviour') return false;
  if (leaf.kind === 'cohort') return groupTypeIndex === null;
  return groupTypeIndex === null
    ? leaf.owner === 'person'
    : leaf.owner === 'group' && leaf.groupTypeIndex === groupTypeIndex;
}

function parseVariants({ multivariate }: FlagFilters): Variant[] {
  const variants = (multivariate?.variants ?? []).map(({ key, name, rollout_percentage }) => ({
    key,
    name: name ?? '',
    rolloutPercentage: rollout_percentage,
  }));
  if (variants.length === 0) return [];
  if (new Set(variants.map(({ key }) => key)).size < variants.length) {
    throw mistake('Two variants have the same key.');
  }
  const sum = variants.reduce((total, { rolloutPercentage }) => total + rolloutPercentage, 0);
  if (Math.abs(sum - 100) > 1e-6) {
    throw mistake('Invalid variant definitions: Variant rollout percentages must sum to 100.');
  }
  return variants;
}

/** Clients parse a payload as JSON: a value that is no text is written as its JSON. */
function parsePayloads({ payloads }: FlagFilters, variants: readonly Variant[]): Map<string, string> {
  const allowed = new Set(variants.length === 0 ? ['true'] : variants.map(({ key }) => key));
  const entries = Object.entries(payloads ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const stray = entries.find(([key]) => !allowed.has(key));
  if (stray !== undefined) {
    throw mistake(
      variants.length === 0
        ? `Payload keys must be 'true' for boolean flags; "${stray[0]}" is not.`
        : `Payload keys must match a variant key for multivariate flags; "${stray[0]}" does not.`,
    );
  }
  return new Map(entries.map(([key, value]) => [key, toText(value)]));
}

const createEnrolment = (flagKey: string): Condition => ({
  filter: {
    kind: 'group',
    operator: 'and',
    members: [
      {
        kind: 'property',
        owner: 'person',
        key: toEnrolmentKey(flagKey),
        operator: 'exact',
        values: ['true'],
        negated: false,
      },
    ],
  },
  dependencies: [],
  rolloutPercentage: 100,
  variant: undefined,
});

function parseHoldout({ holdout, holdout_groups }: FlagFilters): Holdout | undefined {
  if (holdout) return { percentage: holdout.exclusion_percentage, variant: `holdout-${holdout.id}` };
  const [group] = holdout_groups ?? [];
  if (group === undefined) return undefined;
  if ((group.properties ?? []).length > 0) throw mistake('A holdout takes no properties.');
  if (!group.variant) throw mistake('A holdout takes a variant, such as holdout-1.');
  return { percentage: group.rollout_percentage ?? 100, variant: group.variant };
}

/** Keys and ids of the flags that a definition depends on. */
export const listDependencies = ({ conditions }: Flag): string[] =>
  conditions.flatMap(({ dependencies }) => dependencies.map(({ flag }) => flag));

/** The key of a flag that depends on itself, through others or not; undefined where none does. */
export function findCycle(flags: readonly Flag[]): string | undefined {
  const byName = indexByName(flags);
  const done = new Set<Flag>();
  const open = new Set<Flag>();
  function reachesItself(flag: Flag): boolean {
    if (open.has(flag)) return true;
    if (done.has(flag)) return false;
    open.add(flag);
    const found = listDependencies(flag).some((name) => {
      const other = byName.get(name);
      return other !== undefined && reachesItself(other);
    });
    open.delete(flag);
    done.add(flag);
    return found;
  }
  return flags.find(reachesItself)?.key;
}
