import { DateTime } from 'luxon';
import { type Sql, sql } from '../database/sql.ts';
import type { EventColumns } from './definitions/compile-action.ts';
import type { BehaviourFilter, Comparison } from './filter.ts';

interface Doer {
  readonly projectId: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly personId: Sql;
}

const COMPARISONS: Readonly<Record<Comparison, Sql>> = {
  gt: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  lte: sql`<=`,
  eq: sql`=`,
};

/** Which events are deeds of that kind, by their columns and by the person who did them. */
export type MatchDeed = (event: EventColumns, person: { readonly id: Sql; readonly properties: Sql }) => Sql;

/**
 * Whether a behaviour applies to a person. `lte` and `lt` require that they did it at least once, as in the
 * service, which counts the events of persons who have some.
 */
export function compileBehaviour(
  filter: Pick<BehaviourFilter, 'window' | 'times' | 'negated'>,
  { personId, ...moment }: Doer,
  matches: MatchDeed,
): Sql {
  const done = selectDone(filter, moment, matches);
  // In this form Postgres may check one person or compute the set of all, whichever is cheaper.
  const did =
    filter.times === undefined
      ? sql`exists (select ${done} and filter_ids.person_id = ${personId})`
      : sql`exists (
          select from (select filter_ids.person_id ${done} group by filter_ids.person_id
            having count(*) ${compare(filter.times)}) filter_doers
          where filter_doers.person_id = ${personId})`;
  return filter.negated ? sql`not ${did}` : did;
}

/** Deeds by person, as `person_id` and `times`. `place` is a condition on events `filter_events`. */
export const countDeeds = (
  filter: Pick<BehaviourFilter, 'window'>,
  moment: Omit<Doer, 'personId'>,
  matches: MatchDeed,
  place: Sql,
): Sql =>
  sql`select filter_ids.person_id, count(*) as times ${selectDone(filter, moment, matches)} and ${place}
    group by filter_ids.person_id`;

/** The persons (`person_id`) who did it often enough, by deeds that were counted in parts. */
export const selectDoers = ({ times }: Pick<BehaviourFilter, 'times'>, deeds: Sql): Sql =>
  sql`select person_id from ${deeds} as deeds group by person_id
    ${times === undefined ? sql`` : sql`having sum(times) ${compare(times)}`}`;

/** The same as `compileBehaviour`, where those who did it are known: in a table with their `person_id`. */
export function matchDoers({ negated }: Pick<BehaviourFilter, 'negated'>, doers: Sql, personId: Sql): Sql {
  const did = sql`exists (select from ${doers} filter_doers where filter_doers.person_id = ${personId})`;
  return negated ? sql`not ${did}` : did;
}

const compare = ({ comparison, count }: NonNullable<BehaviourFilter['times']>): Sql =>
  sql`${COMPARISONS[comparison]} ${count}::bigint`;

function selectDone(
  { window }: Pick<BehaviourFilter, 'window'>,
  { projectId, now }: Omit<Doer, 'personId'>,
  matches: MatchDeed,
): Sql {
  const until = DateTime.fromMillis(now, { zone: 'utc' });
  const from = until.minus({ [`${window.unit}s`]: window.count });
  return sql`from person_distinct_ids filter_ids
    join events filter_events on filter_events.project_id = filter_ids.project_id
      and filter_events.distinct_id = filter_ids.distinct_id
    where filter_ids.project_id = ${projectId}::integer
      and filter_events.timestamp >= ${instant(from)}::timestamptz
      and filter_events.timestamp <= ${instant(until)}::timestamptz
      and ${matches(
        { name: sql`filter_events.event`, properties: sql`filter_events.properties` },
        {
          id: sql`filter_ids.person_id`,
          properties: sql`(select filter_persons.properties from persons filter_persons
            where filter_persons.id = filter_ids.person_id)`,
        },
      )}`;
}

/** Postgres has `-infinity` for what ISO 8601 cannot write. */
function instant(date: DateTime): string {
  return (date.year >= 1 ? date.toISO() : null) ?? '-infinity';
}
