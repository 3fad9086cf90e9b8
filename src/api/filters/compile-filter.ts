import { invalidInput } from '../errors.ts';
import type { CohortDefinitions } from './cohort-definition.ts';
import { compileBehaviour } from './compile-behaviour.ts';
import { compileProperty } from './compile-property.ts';
import type { CohortFilter, Filter, PropertyFilter } from './filter.ts';
import { allOf, anyOf, type Sql, sql } from './sql.ts';

/** What a condition is about. What is left out cannot be asked: such a filter is refused with 400. */
export interface FilterSubject {
  readonly projectId: number;
  /** Milliseconds since 1970, for relative dates and windows of time. */
  readonly now: number;
  /** A person: `id` is the integer key, `properties` the jsonb column. */
  readonly person?: { readonly id: Sql; readonly properties: Sql };
  /** The jsonb properties of an event. */
  readonly event?: Sql;
  /** The jsonb properties of one group; left out: those of the event's groups. */
  readonly group?: Sql;
  /** Every cohort that the filter reaches (`loadCohorts`); one that is not here has no members. */
  readonly cohorts?: CohortDefinitions;
}

/** Cohorts of cohorts multiply; each leaf takes up to twenty of the 65535 parameters of a statement. */
const MAX_LEAVES = 1000;

/** The condition that a filter asks for, ready for a `where`; never null. */
export function compileFilter(filter: Filter, subject: FilterSubject): Sql {
  let leaves = 0;
  const countLeaf = () => {
    leaves += 1;
    if (leaves > MAX_LEAVES)
      throw invalidInput(`A filter with its cohorts may have ${MAX_LEAVES} conditions.`);
  };
  return compile(filter, subject, { inside: [], countLeaf });
}

interface Walk {
  /** The cohorts that are being looked into. */
  readonly inside: readonly number[];
  readonly countLeaf: () => void;
}

function compile(filter: Filter, subject: FilterSubject, walk: Walk): Sql {
  if (filter.kind !== 'group') walk.countLeaf();
  switch (filter.kind) {
    case 'group': {
      const members = filter.members.map((member) => compile(member, subject, walk));
      return filter.operator === 'or' && members.length > 0 ? anyOf(members) : allOf(members);
    }
    case 'property':
      return compileProperty(propertiesOf(filter, subject), filter, subject.now);
    case 'cohort':
      return compileCohort(filter, subject, walk);
    case 'behaviour': {
      const { id } = personOf(subject);
      const { projectId, now } = subject;
      const condition = (event: Sql) => compile(filter.eventFilter, { projectId, now, event }, walk);
      return compileBehaviour(filter, { projectId, now, personId: id }, condition);
    }
  }
}

function compileCohort(filter: CohortFilter, subject: FilterSubject, walk: Walk): Sql {
  const { cohortId, negated } = filter;
  const person = personOf(subject);
  const cohort = subject.cohorts?.get(cohortId);
  // As the service does: nobody is in a cohort that is gone, and nobody is outside of it.
  if (cohort === undefined) return sql`false`;
  if (walk.inside.includes(cohortId)) throw invalidInput(`Cohort ${cohortId} contains itself.`);
  const member = cohort.isStatic
    ? sql`exists (select from cohort_members m where m.cohort_id = ${cohortId}::integer and m.person_id = ${person.id})`
    : compile(cohort.filter, subject, { ...walk, inside: [...walk.inside, cohortId] });
  return negated ? sql`not ${member}` : member;
}

function propertiesOf(filter: PropertyFilter, subject: FilterSubject): Sql {
  if (filter.owner === 'person') return personOf(subject).properties;
  if (filter.owner === 'group') return groupOf(filter.groupTypeIndex ?? 0, subject);
  if (subject.event === undefined) throw notHere('event');
  return subject.event;
}

function personOf(subject: FilterSubject): { readonly id: Sql; readonly properties: Sql } {
  if (subject.person === undefined) throw notHere('person');
  return subject.person;
}

function groupOf(index: number, { group, event, projectId }: FilterSubject): Sql {
  if (group !== undefined) return group;
  if (event === undefined) throw notHere('group');
  return sql`(select g.properties from groups g where g.project_id = ${projectId}::integer
    and g.group_type_index = ${index}::smallint and g.group_key = ${event} ->> ${`$group_${index}`}::text)`;
}

const notHere = (type: string) =>
  invalidInput(`Filters of type "${type}" cannot be used here.`, 'properties');
