import type { Db, Queryable } from '../database/db.ts';
import { allOf, anyOf, runSql, type Sql, sql } from '../database/sql.ts';
import { compileFilter, type FilterSubject } from '../query/compile-filter.ts';
import { type ActionDefinition, namesOf, noSuchAction } from '../query/definitions/action-definition.ts';
import type { Definitions } from '../query/definitions/action-store.ts';
import { compileAction } from '../query/definitions/compile-action.ts';
import type { FilterGroup } from '../query/filter.ts';
import type { Entity, PropertyOf } from './entity.ts';
import { tooLarge } from './insight-error.ts';

/** The events that an insight is about, and what its conditions need to know. */
export interface EventScope extends Definitions {
  readonly projectId: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Holds for every event. */
  readonly filter: FilterGroup;
  /** Those who did what behaviours ask for, where that is known. @default each statement finds out */
  readonly doers?: FilterSubject['doers'] | undefined;
  /** A condition on every row of a statement that reads much, which fails once the statement took too long. */
  readonly guard: Sql;
  /** A condition on where events `e` are in their table: those of a step. */
  readonly place: Sql;
  /**
   * Sessions by `actor`, their id, with a `value` each: joined as `s` where a breakdown needs them.
   * @default none
   */
  readonly sessions?: Sql;
}

/** A span of time in ISO 8601; `until` is the first moment after it. */
export interface Span {
  readonly from: string;
  readonly until: string;
}

/**
 * Who did an event `e`, as text (actor.ts): the person that its id belongs to now, so that merged persons are
 * one; of an id without a person the one that the event came in with; otherwise the id itself.
 */
export const ACTOR = sql`coalesce(d.person_id::text, 'u' || e.person_id::text, 'd' || e.distinct_id)`;

/**
 * Events `e` in a span that pass the scope's filter and a condition, each with its id `d` and person `p`,
 * where it has them. Postgres removes joins that are not used.
 */
export const eventsWhere = (scope: EventScope, { from, until }: Span, condition: Sql): Sql => sql`
  from events e
  left join person_distinct_ids d on d.project_id = ${scope.projectId}::integer and d.distinct_id = e.distinct_id
  left join persons p on p.id = d.person_id${
    scope.sessions === undefined
      ? sql``
      : sql`
  left join ${scope.sessions} s on s.actor = e.properties ->> '$session_id'`
  }
  where e.project_id = ${scope.projectId}::integer and ${scope.place}
    and e.timestamp >= ${from}::timestamptz and e.timestamp < ${until}::timestamptz
    and ${condition} and ${compileFilter(scope.filter, toSubject(scope))} and ${scope.guard}`;

/**
 * A column for a subquery that reads properties and whose rows are sorted: what is volatile stays there, and the rest
 * with it, so that properties are read once and not sorted with the rows. An offset does the same, but only one process
 * at work.
 */
export const READ_HERE = sql`clock_timestamp() as read_at`;

/** Whether `e` is one of an entity's events. */
export const matchEntity = (
  scope: EventScope,
  { event, saved, filter }: Pick<Entity, 'event' | 'saved' | 'filter'>,
): Sql => {
  const subject = toSubject(scope);
  const condition = compileFilter(filter, subject);
  if (saved !== undefined) {
    const columns = { name: sql`e.event`, properties: sql`e.properties` };
    const action = compileAction(requireAction(scope, saved), columns, (own) => compileFilter(own, subject));
    return allOf([action, condition]);
  }
  return event === null ? condition : allOf([sql`e.event = ${event}::text`, condition]);
};

/** Refuses (400) an action that the project does not have, or has no more. */
export function requireAction(
  { actions }: Pick<EventScope, 'actions'>,
  { actionId, attr }: NonNullable<Entity['saved']>,
): ActionDefinition {
  const action = actions.get(actionId);
  if (action === undefined) throw noSuchAction(actionId, attr);
  return action;
}

/** Names that the events of an entity may have; undefined: any. */
export function listNames(
  scope: Pick<EventScope, 'actions'>,
  { event, saved }: Entity,
): string[] | undefined {
  if (saved !== undefined) return namesOf(requireAction(scope, saved));
  return event === null ? undefined : [event];
}

/** Whether the person of `e` is in a cohort, as filters say it. */
export const matchCohort = (scope: EventScope, cohortId: number): Sql =>
  compileFilter({ kind: 'cohort', cohortId, negated: false }, toSubject(scope));

/** The same of a person `p`. */
export const matchPersonCohort = (scope: EventScope, cohortId: number): Sql =>
  compileFilter(
    { kind: 'cohort', cohortId, negated: false },
    {
      ...knownBy(scope),
      person: { id: sql`p.id`, properties: sql`coalesce(p.properties, '{}')` },
    },
  );

/** Where all have names these are a condition of their own, which Postgres looks up in the index. */
export function matchAnyEntity(scope: EventScope, entities: readonly Entity[]): Sql {
  const lists = entities.map((entity) => listNames(scope, entity));
  const names = [...new Set(lists.flatMap((list) => list ?? []))];
  const isNamed = !lists.includes(undefined);
  const hasFilter = entities.some(({ saved, filter }) => saved !== undefined || filter.members.length > 0);
  return allOf([
    ...(isNamed ? [sql`e.event = any(${names}::text[])`] : []),
    ...(isNamed && !hasFilter ? [] : [anyOf(entities.map((entity) => matchEntity(scope, entity)))]),
  ]);
}

/** What compiling a filter needs to know, besides what it applies to. */
export const knownBy = ({ projectId, now, cohorts, actions, doers }: EventScope): FilterSubject => ({
  projectId,
  now,
  cohorts,
  actions,
  ...(doers === undefined ? {} : { doers }),
});

const toSubject = (scope: EventScope): FilterSubject => ({
  ...knownBy(scope),
  person: { id: sql`d.person_id`, properties: sql`coalesce(p.properties, '{}')` },
  event: sql`e.properties`,
});

/** Index of a bucket among the starts, from 1. The select makes Postgres read the starts once, not once a row. */
export const findBucket = (time: Sql, starts: readonly string[]): Sql =>
  sql`width_bucket(${time}, (select ${starts}::text[]::timestamptz[]))`;

const selectProperties = ({ owner }: PropertyOf): Sql =>
  owner === 'event' ? sql`e.properties` : sql`p.properties`;

export const MAX_VALUE_CHARACTERS = 400;

/** A property as text, empty where there is none. */
export const selectText = (property: PropertyOf): Sql =>
  sql`coalesce(left(${selectProperties(property)} ->> ${property.key}::text, ${MAX_VALUE_CHARACTERS}::integer), '')`;

/** A property as a numeric, null where it is no number: numbers, and texts that look like one. For `toNumber`. */
export const selectNumeric = (property: PropertyOf): Sql => {
  const owner = selectProperties(property);
  const { key } = property;
  return sql`case when jsonb_typeof(${owner} -> ${key}::text) = 'number'
      or (${owner} ->> ${key}::text) ~ '^-?[0-9]{1,15}(\\.[0-9]{1,15})?$'
    then (${owner} ->> ${key}::text)::numeric end`;
};

/**
 * A column of these as a number: digits past the fifteenth after the point go, and so do numbers whose sum a double could
 * not hold.
 */
export const toNumber = (numeric: Sql): Sql =>
  sql`case when abs(${numeric}) < 1e200 then round(${numeric}, 15)::float8 end`;

/** Events dated before that come from clocks that were never set; those after now from clocks that are fast. */
const FIRST_PLAUSIBLE_TIME = '2000-01-01T00:00:00Z';

/** Milliseconds since 1970. */
export interface EventTimes {
  readonly first: number;
  readonly last: number;
}

/** When the project's first and last plausible events happened; undefined where there is none. */
export async function loadEventTimes(
  tx: Queryable,
  projectId: number,
  now: number,
): Promise<EventTimes | undefined> {
  const plausible = sql`project_id = ${projectId}::integer
    and timestamp >= ${FIRST_PLAUSIBLE_TIME}::timestamptz
    and timestamp <= ${new Date(now).toISOString()}::timestamptz`;
  const [row] = await runSql<{ first: string | null; last: string | null }>(
    tx,
    sql`select (select min(timestamp) from events where ${plausible}) as first,
      (select max(timestamp) from events where ${plausible}) as last`,
  );
  if (!row?.first || !row.last) return undefined;
  return { first: Date.parse(row.first), last: Date.parse(row.last) };
}

/** Enough to meet every property that is in use. */
const RECENT_EVENTS = 2000;

/** Names of the properties of a project's last events. */
export async function loadRecentProperties(tx: Queryable, projectId: number): Promise<ReadonlySet<string>> {
  const rows = await runSql<{ name: string }>(
    tx,
    sql`select distinct jsonb_object_keys(properties) as name
      from (select properties from events where project_id = ${projectId}::integer
        order by timestamp desc limit ${RECENT_EVENTS}::integer) as recent`,
  );
  return new Set(rows.map(({ name }) => name));
}

/** A statement has room for 65535. */
const MAX_PARAMETERS = 60_000;

/** Runs a statement on facts; filters of many steps may add up to more than a statement takes. */
export function runFacts<R>(tx: Queryable, statement: Sql): Promise<R[]> {
  if (statement.toQuery().params.length > MAX_PARAMETERS) {
    throw tooLarge('The filters are too large together: use fewer of them.');
  }
  return runSql(tx, statement);
}

/** Memory of each sort, and half of that of each hash table, of a question. The embedded database reads in steps. */
const WORK_MEMORY: Readonly<Record<Db['kind'], string>> = { pglite: '32MB', postgres: '64MB' };

/**
 * For a transaction that reads much: what fits into memory is not sorted on disk, and statements are not compiled, which
 * took longer than it saved.
 */
export async function planForMuch(tx: Queryable, kind: Db['kind']): Promise<void> {
  await runSql(
    tx,
    sql`select set_config('work_mem', ${WORK_MEMORY[kind]}, true), set_config('jit', 'off', true)`,
  );
}
