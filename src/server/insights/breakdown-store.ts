import type { Queryable } from '../database/db.ts';
import { joinSql, runSql, type Sql, sql } from '../database/sql.ts';
import type { FilterGroup } from '../query/filter.ts';
import { type Breakdown, type BreakdownBy, EVERYBODY, type SessionProperty } from './entity.ts';
import {
  type EventScope,
  eventsWhere,
  MAX_VALUE_CHARACTERS,
  matchCohort,
  type Span,
  selectText,
} from './events-store.ts';
import type { Steps } from './steps.ts';

/**
 * The value that a breakdown gives an event `e`, as text, empty where there is none. An event has one for each of
 * the cohorts that its person is in, so it makes as many rows: none where that is in none of them.
 */
export function selectValue(scope: EventScope, breakdown: BreakdownBy | undefined): Sql {
  if (breakdown === undefined) return sql`''`;
  switch (breakdown.owner) {
    case 'session':
      return sql`coalesce(left(s.value, ${MAX_VALUE_CHARACTERS}::integer), '')`;
    case 'cohort':
      return unnestCohorts(breakdown.cohorts, (id) => matchCohort(scope, id));
    default:
      return selectText(breakdown);
  }
}

export const unnestCohorts = (
  cohorts: readonly (number | typeof EVERYBODY)[],
  match: (id: number) => Sql,
): Sql =>
  sql`unnest(array_remove(array[${joinSql(
    cohorts.map((id) =>
      id === EVERYBODY ? sql`${EVERYBODY}::text` : sql`case when ${match(id)} then ${String(id)}::text end`,
    ),
    ', ',
  )}], null))`;

/** The cohorts that a breakdown names, as a filter: for what loads and checks them. */
export const toCohortFilter = (breakdown: BreakdownBy | undefined): FilterGroup => ({
  kind: 'group',
  operator: 'or',
  members:
    breakdown?.owner === 'cohort'
      ? breakdown.cohorts.flatMap((id) =>
          id === EVERYBODY ? [] : [{ kind: 'cohort', cohortId: id, negated: false } as const],
        )
      : [],
});

/** Names of the cohorts of a breakdown by their values. */
export async function loadCohortNames(
  tx: Queryable,
  projectId: number,
  breakdown: Breakdown | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (breakdown?.owner !== 'cohort') return new Map();
  const ids = breakdown.cohorts.filter((id) => id !== EVERYBODY);
  const rows = await runSql<{ id: number; name: string | null }>(
    tx,
    sql`select id, name from cohorts where project_id = ${projectId}::integer and id = any(${ids}::integer[])`,
  );
  return new Map([
    ...rows.map(({ id, name }): [string, string] => [String(id), name || `Cohort ${id}`]),
    [EVERYBODY, 'All users'],
  ]);
}

/** Sessions last a day at most, and may begin before the span that an insight is about. */
const DAY_MS = 86_400_000;

/**
 * The scope with the values of the sessions of its events, where the breakdown needs them: of every event that has
 * the same `$session_id` and is at most a day away from the span, whatever the filters.
 */
export async function withSessions(
  steps: Steps,
  scope: EventScope,
  span: Span,
  breakdown: BreakdownBy | undefined,
): Promise<EventScope> {
  if (breakdown?.owner !== 'session') return scope;
  const { from, until } = span;
  const wide = {
    from: from.endsWith('infinity') ? from : new Date(Date.parse(from) - DAY_MS).toISOString(),
    until: new Date(Date.parse(until) + DAY_MS).toISOString(),
  };
  const { part, whole } = SESSION_VALUES[breakdown.key];
  const everything = { ...scope, filter: { kind: 'group', operator: 'and', members: [] } } as const;
  const parts = await steps.collect(
    everything,
    (within) => sql`select ${SESSION_ID} as actor, ${part}
      ${eventsWhere(within, wide, sql`${SESSION_ID} <> ''`)} group by 1`,
  );
  const sessions = await steps.derive(
    [parts],
    (of) => sql`select actor, ${whole} as value from ${of(parts)} as parts group by actor`,
  );
  return { ...scope, sessions };
}

const SESSION_ID = sql`(e.properties ->> '$session_id')`;

/** What is kept of a part of a session, and what the whole makes of these. */
interface SessionValue {
  readonly part: Sql;
  readonly whole: Sql;
}

const countOf = (event: string): SessionValue => ({
  part: sql`count(*) filter (where e.event = ${event}::text) as count`,
  whole: sql`sum(count)::text`,
});

const edgeOf = (key: string, direction: Sql): SessionValue => ({
  part: sql`(array_agg(e.properties ->> ${key}::text order by e.timestamp ${direction}, e.uuid ${direction})
      filter (where e.properties ->> ${key}::text is not null))[1] as edge,
    (array_agg(e.timestamp order by e.timestamp ${direction}, e.uuid ${direction})
      filter (where e.properties ->> ${key}::text is not null))[1] as at,
    (array_agg(e.uuid order by e.timestamp ${direction}, e.uuid ${direction})
      filter (where e.properties ->> ${key}::text is not null))[1] as uuid`,
  whole: sql`(array_agg(edge order by at ${direction}, uuid ${direction}) filter (where edge is not null))[1]`,
});

const SESSION_VALUES: Readonly<Record<SessionProperty, SessionValue>> = {
  // Whole seconds, as the service has them.
  $session_duration: {
    part: sql`min(e.timestamp) as first, max(e.timestamp) as last`,
    whole: sql`floor(extract(epoch from max(last) - min(first)))::bigint::text`,
  },
  $entry_current_url: edgeOf('$current_url', sql`asc`),
  $entry_pathname: edgeOf('$pathname', sql`asc`),
  $end_current_url: edgeOf('$current_url', sql`desc`),
  $end_pathname: edgeOf('$pathname', sql`desc`),
  $pageview_count: countOf('$pageview'),
  $screen_count: countOf('$screen'),
  $autocapture_count: countOf('$autocapture'),
};
