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

/**
 * Whether a behaviour applies to a person. `lte` and `lt` require that they did it at least once, as in the
 * service, which counts the events of persons who have some.
 */
export function compileBehaviour(
  filter: Pick<BehaviourFilter, 'window' | 'times' | 'negated'>,
  doer: Doer,
  condition: (event: EventColumns, person: { readonly id: Sql; readonly properties: Sql }) => Sql,
): Sql {
  const { projectId, now, personId } = doer;
  const until = DateTime.fromMillis(now, { zone: 'utc' });
  const from = until.minus({ [`${filter.window.unit}s`]: filter.window.count });
  const done = sql`from person_distinct_ids filter_ids
    join events filter_events on filter_events.project_id = filter_ids.project_id
      and filter_events.distinct_id = filter_ids.distinct_id
    where filter_ids.project_id = ${projectId}::integer
      and filter_events.timestamp >= ${instant(from)}::timestamptz
      and filter_events.timestamp <= ${instant(until)}::timestamptz
      and ${condition(
        { name: sql`filter_events.event`, properties: sql`filter_events.properties` },
        {
          id: sql`filter_ids.person_id`,
          properties: sql`(select filter_persons.properties from persons filter_persons
            where filter_persons.id = filter_ids.person_id)`,
        },
      )}`;
  // In this form Postgres may check one person or compute the set of all, whichever is cheaper.
  const did =
    filter.times === undefined
      ? sql`exists (select ${done} and filter_ids.person_id = ${personId})`
      : sql`exists (
          select from (select filter_ids.person_id ${done} group by filter_ids.person_id
            having count(*) ${COMPARISONS[filter.times.comparison]} ${filter.times.count}::bigint) filter_doers
          where filter_doers.person_id = ${personId})`;
  return filter.negated ? sql`not ${did}` : did;
}

/** Postgres has `-infinity` for what ISO 8601 cannot write. */
function instant(date: DateTime): string {
  return (date.year >= 1 ? date.toISO() : null) ?? '-infinity';
}
