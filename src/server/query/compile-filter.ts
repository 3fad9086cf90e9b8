import { allOf, anyOf, type Sql, sql } from '../database/sql.ts';
import { invalidInput } from '../http/errors.ts';
import { compileBehaviour, countDeeds, type MatchDeed, matchDoers } from './compile-behaviour.ts';
import { compileProperty } from './compile-property.ts';
import {
  type ActionDefinition,
  type ActionDefinitions,
  noSuchAction,
} from './definitions/action-definition.ts';
import { type CohortDefinitions, cohortIdsIn } from './definitions/cohort-definition.ts';
import { compileAction } from './definitions/compile-action.ts';
import type { BehaviourFilter, CohortFilter, Filter, FilterGroup, PropertyFilter } from './filter.ts';

/**
 * What a condition applies to. A filter on anything missing here is refused with 400. Columns are
 * qualified (`p.properties`), by names that do not begin with `filter_`.
 */
export interface FilterSubject {
  readonly projectId: number;
  /** Milliseconds since 1970, for relative dates and windows of time. */
  readonly now: number;
  /** A person: `id` is the integer key, `properties` the jsonb column. */
  readonly person?: { readonly id: Sql; readonly properties: Sql };
  /** The jsonb properties of an event. */
  readonly event?: Sql;
  /**
   * The jsonb properties of one group.
   * @default those of the event's groups
   */
  readonly group?: Sql;
  /** Every cohort that the filter reaches (`loadDefinitions`); one that is not here has no members. */
  readonly cohorts?: CohortDefinitions;
  /** Every action that behaviours of the filter reach; one that is not here is refused. */
  readonly actions?: ActionDefinitions;
  /**
   * Tables of those who did what behaviours of the filter ask for (`person_id`), whether or not these are negated.
   * @default each statement finds out
   */
  readonly doers?: ReadonlyMap<BehaviourFilter, Sql>;
  /**
   * The parameter, for error messages.
   * @default 'properties'
   */
  readonly attr?: string;
}

/** Cohorts of cohorts multiply; each leaf takes up to twenty of the 65535 parameters of a statement. */
export const MAX_CONDITIONS = 1000;
/** The costliest may take Postgres most of a second to prepare (pattern.ts). */
export const MAX_PATTERNS = 50;

/** The condition of a filter, ready for a `where`; never null. */
export function compileFilter(filter: Filter, subject: FilterSubject): Sql {
  return compile(filter, subject, { inside: [], count: createCounter() });
}

interface Walk {
  /** The cohorts that contain this filter, outermost first. */
  readonly inside: readonly number[];
  readonly count: (leaf: Exclude<Filter, FilterGroup>) => void;
}

function createCounter(): Walk['count'] {
  let [conditions, patterns] = [0, 0];
  return (leaf) => {
    conditions += 1;
    if (leaf.kind === 'property' && leaf.operator.endsWith('regex')) patterns += leaf.values.length;
    if (conditions <= MAX_CONDITIONS && patterns <= MAX_PATTERNS) return;
    throw invalidInput(
      `A filter, with its cohorts, may have ${MAX_CONDITIONS} conditions and ${MAX_PATTERNS} patterns at most.`,
    );
  };
}

function compile(filter: Filter, subject: FilterSubject, walk: Walk): Sql {
  if (filter.kind !== 'group') walk.count(filter);
  switch (filter.kind) {
    case 'group': {
      const members = filter.members.map((member) => compile(member, subject, walk));
      return filter.operator === 'or' && members.length > 0 ? anyOf(members) : allOf(members);
    }
    case 'property':
      return compileProperty(selectProperties(filter, subject), filter, subject.now);
    case 'cohort':
      return compileCohort(filter, subject, walk);
    case 'behaviour':
      return compileDeed(filter, subject, walk);
  }
}

function compileDeed(filter: BehaviourFilter, subject: FilterSubject, walk: Walk): Sql {
  const { id: personId } = requirePerson(subject);
  const doers = subject.doers?.get(filter);
  if (doers !== undefined) return matchDoers(filter, doers, personId);
  const { projectId, now } = subject;
  return compileBehaviour(filter, { projectId, now, personId }, matchDeed(filter, subject, walk));
}

/** How often each person did what a behaviour asks for, in some events `filter_events` (`countDeeds`). */
export const selectDeeds = (
  filter: BehaviourFilter,
  subject: Pick<FilterSubject, 'projectId' | 'now' | 'actions'>,
  place: Sql,
): Sql =>
  countDeeds(filter, subject, matchDeed(filter, subject, { inside: [], count: createCounter() }), place);

function matchDeed(
  { did, eventFilter }: BehaviourFilter,
  { projectId, now, attr = 'properties', actions }: FilterSubject,
  walk: Walk,
): MatchDeed {
  const base = { projectId, now, attr };
  return (event, person) =>
    allOf([
      'event' in did
        ? sql`${event.name} = ${did.event}::text`
        : compileAction(requireAction(did.actionId, actions, attr), event, (own) =>
            compile(own, { ...base, event: event.properties, person }, walk),
          ),
      compile(eventFilter, { ...base, event: event.properties }, walk),
    ]);
}

/** An action that asks for cohorts could be a condition of these again. */
function requireAction(id: number, actions: ActionDefinitions | undefined, attr: string): ActionDefinition {
  const action = actions?.get(id);
  if (action === undefined) throw noSuchAction(id, attr);
  if (action.steps.every(({ filter }) => cohortIdsIn(filter).length === 0)) return action;
  throw invalidInput(
    `Action ${id} has conditions on cohorts, so that it cannot be a behaviour: choose events.`,
    attr,
  );
}

function compileCohort(filter: CohortFilter, subject: FilterSubject, walk: Walk): Sql {
  const { cohortId, negated } = filter;
  const person = requirePerson(subject);
  const cohort = subject.cohorts?.get(cohortId);
  // As the service does: nobody is in a cohort that is gone, and nobody is outside of it.
  if (cohort === undefined) return sql`false`;
  if (walk.inside.includes(cohortId)) throw invalidInput(`Cohort ${cohortId} contains itself.`);
  const member = cohort.isStatic
    ? sql`exists (select from cohort_members filter_members
        where filter_members.cohort_id = ${cohortId}::integer and filter_members.person_id = ${person.id})`
    : compile(cohort.filter, subject, { ...walk, inside: [...walk.inside, cohortId] });
  return negated ? sql`not ${member}` : member;
}

function selectProperties(filter: PropertyFilter, subject: FilterSubject): Sql {
  if (filter.owner === 'person') return requirePerson(subject).properties;
  if (filter.owner === 'group') return selectGroup(filter.groupTypeIndex ?? 0, subject);
  if (subject.event === undefined) throw notHere('event', subject);
  return subject.event;
}

function requirePerson(subject: FilterSubject): { readonly id: Sql; readonly properties: Sql } {
  if (subject.person === undefined) throw notHere('person', subject);
  return subject.person;
}

function selectGroup(index: number, subject: FilterSubject): Sql {
  const { group, event, projectId } = subject;
  if (group !== undefined) return group;
  if (event === undefined) throw notHere('group', subject);
  return sql`(select filter_groups.properties from groups filter_groups
    where filter_groups.project_id = ${projectId}::integer
      and filter_groups.group_type_index = ${index}::smallint
      and filter_groups.group_key = ${event} ->> ${`$group_${index}`}::text)`;
}

const notHere = (type: string, { attr = 'properties' }: FilterSubject) =>
  invalidInput(`Filters of type "${type}" cannot be used here.`, attr);
