import type { CohortDefinitions } from '../../query/definitions/cohort-definition.ts';
import type { Filter, PropertyFilter } from '../../query/filter.ts';
import { compileMatch, type Leaves, type Match } from '../../query/match/filter.ts';
import { compileMatchProperty } from '../../query/match/property.ts';
import type { Condition, Dependency } from '../flag.ts';
import type { Subject } from './facts.ts';
import { compileMatchGiven } from './match-given.ts';

/** A condition, ready to be asked of any number of persons. */
export interface CompiledCondition {
  /** Its place among the conditions of the flag, as it was written. */
  readonly index: number;
  /** All must match. */
  readonly parts: readonly Part[];
  readonly dependencies: readonly Dependency[];
  /** Between 0 and 1. */
  readonly rollout: number;
  readonly variant: string | undefined;
  /** Keys of properties without which it cannot be answered. */
  readonly keys: readonly string[];
  /** Whether it asks for members of static cohorts, which only the store knows. */
  readonly asksMembers: boolean;
  /** Whether the time of the decision may change what it answers. */
  readonly asksTime: boolean;
  /** Asks only what somebody is not, which is true of a person that does not exist. */
  readonly onlyDenies: boolean;
}

export interface Part {
  readonly filter: Filter;
  readonly match: Match<Subject>;
}

const LEAVES: Leaves<Subject> = {
  property(filter) {
    const { key } = filter;
    const [matchStored, matchGiven] = [compileMatchProperty(filter), compileMatchGiven(filter)];
    return ({ given, stored, now }) =>
      Object.hasOwn(given, key)
        ? matchGiven(given[key], now)
        : matchStored(stored.kind === 'found' ? stored.properties : {}, now);
  },
  member:
    (cohortId) =>
    ({ stored }) =>
      stored.kind === 'found' && stored.cohorts.has(cohortId),
};

/** @throws UnmatchableError for cohorts that are missing, or that ask what only the database knows */
export function compileCondition(
  { filter, dependencies, rolloutPercentage, variant }: Condition,
  index: number,
  cohorts: CohortDefinitions,
): CompiledCondition {
  const parts = filter.members.map((member) => ({
    filter: member,
    match: compileMatch(member, cohorts, LEAVES),
  }));
  const { properties, asksMembers } = listLeaves(filter, cohorts);
  return {
    index,
    parts,
    dependencies,
    rollout: rolloutPercentage / 100,
    variant,
    keys: [...new Set(properties.map(({ key }) => key))],
    asksMembers,
    asksTime: properties.some(({ operator }) => operator.startsWith('is_date')),
    onlyDenies: !asksMembers && properties.every(isDenial),
  };
}

const isDenial = ({ operator, negated }: PropertyFilter): boolean =>
  !negated && (operator === 'is_not' || operator === 'is_not_set');

interface LeafList {
  readonly properties: readonly PropertyFilter[];
  readonly asksMembers: boolean;
}

/** Cohorts are known to exist, and not to contain themselves: compiling has seen them all. */
function listLeaves(filter: Filter, cohorts: CohortDefinitions): LeafList {
  switch (filter.kind) {
    case 'property':
      return { properties: [filter], asksMembers: false };
    case 'cohort': {
      const cohort = cohorts.get(filter.cohortId);
      if (cohort === undefined || cohort.isStatic) return { properties: [], asksMembers: true };
      return listLeaves(cohort.filter, cohorts);
    }
    case 'behaviour':
      return { properties: [], asksMembers: true };
    case 'group': {
      const lists = filter.members.map((member) => listLeaves(member, cohorts));
      return {
        properties: lists.flatMap(({ properties }) => properties),
        asksMembers: lists.some((list) => list.asksMembers),
      };
    }
  }
}
