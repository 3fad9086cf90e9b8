import type { CohortDefinitions } from '../definitions/cohort-definition.ts';
import type { BehaviourFilter, CohortFilter, Filter, PropertyFilter } from '../filter.ts';

export type Match<S> = (subject: S) => boolean;

/** How the leaves of a filter are answered for a subject `S`. */
export interface Leaves<S> {
  readonly property: (filter: PropertyFilter) => Match<S>;
  /** Membership of a static cohort. */
  readonly member: (cohortId: number) => Match<S>;
}

/** Why a filter cannot be evaluated in memory; the message is for people. */
export class UnmatchableError extends Error {}

/**
 * The same answer in memory that `compileFilter` gives in SQL. Compiled once, it is asked often.
 *
 * @throws UnmatchableError for what only the database knows: events that a person did, cohorts that are missing
 * from `cohorts` or contain themselves
 */
export function compileMatch<S>(
  filter: Filter,
  cohorts: CohortDefinitions,
  leaves: Leaves<S>,
  inside: readonly number[] = [],
): Match<S> {
  switch (filter.kind) {
    case 'group':
      return compileGroup(
        filter.operator,
        filter.members.map((member) => compileMatch(member, cohorts, leaves, inside)),
      );
    case 'property':
      return leaves.property(filter);
    case 'cohort':
      return compileCohort(filter, cohorts, leaves, inside);
    case 'behaviour':
      throw new UnmatchableError(`${nameDeed(filter.did)} that somebody did cannot be looked up here.`);
  }
}

const nameDeed = (did: BehaviourFilter['did']): string =>
  'event' in did ? `The event "${did.event}"` : `The action ${did.actionId}`;

function compileGroup<S>(operator: 'and' | 'or', members: readonly Match<S>[]): Match<S> {
  const [only] = members;
  if (only === undefined) return () => true;
  if (members.length === 1) return only;
  return operator === 'and'
    ? (subject) => members.every((match) => match(subject))
    : (subject) => members.some((match) => match(subject));
}

function compileCohort<S>(
  { cohortId, negated }: CohortFilter,
  cohorts: CohortDefinitions,
  leaves: Leaves<S>,
  inside: readonly number[],
): Match<S> {
  const cohort = cohorts.get(cohortId);
  if (cohort === undefined) throw new UnmatchableError(`Cohort ${cohortId} does not exist.`);
  if (inside.includes(cohortId)) throw new UnmatchableError(`Cohort ${cohortId} contains itself.`);
  const match = cohort.isStatic
    ? leaves.member(cohortId)
    : compileMatch(cohort.filter, cohorts, leaves, [...inside, cohortId]);
  return negated ? (subject) => !match(subject) : match;
}
