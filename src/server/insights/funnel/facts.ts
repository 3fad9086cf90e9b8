import { anyOf, joinSql, type Sql, sql } from '../../database/sql.ts';
import { inTime } from '../../query/time-limit.ts';
import { isSameEntity } from '../entity.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  findBucket,
  matchAnyEntity,
  matchEntity,
  type Span,
  selectText,
} from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { FunnelQuery, FunnelWindow } from './model.ts';

/**
 * One fact a person who entered: how many `steps` they reached in one go, the times `at` of these, and the
 * `value` of the breakdown. Of several goes the one that came furthest counts, the earliest of these.
 */
export function funnelFacts(scope: EventScope, matched: Sql, query: FunnelQuery): Sql {
  return sql`with ${selectGoes(scope, matched, query)},
      best as (
        select distinct on (actor) actor, at, cardinality(at) as steps
        from goes where cardinality(at) > 0 order by actor, cardinality(at) desc, at[1], uuid)
    select best.actor, best.steps, best.at, coalesce(touched.value, '') as value
    from best left join (${touchedValues(query)}) as touched on touched.actor = best.actor`;
}

/**
 * One fact for a person and a period in which they entered: how many `steps` the go reached that came furthest of
 * those that began in it.
 */
export const funnelFactsByPeriod = (
  scope: EventScope,
  matched: Sql,
  query: FunnelQuery,
  { starts }: Pick<Buckets, 'starts'>,
): Sql =>
  sql`with ${selectGoes(scope, matched, query)}
    select actor, ${findBucket(sql`at[1]`, starts)} as period, max(cardinality(at)) as steps
    from goes where cardinality(at) > 0 group by 1, 2`;

/** CTEs of the events that matter and of the goes that they make. */
function selectGoes(scope: EventScope, matched: Sql, query: FunnelQuery): Sql {
  const goes = { ordered: orderedGoes, strict: strictGoes, unordered: unorderedGoes }[query.order];
  return sql`matched as materialized (select * from ${matched} as parts), goes as (${goes(scope, query)})`;
}

/**
 * Every event that an attempt can consist of: `steps` and `exclusions` flag which of these it is. In a strict
 * funnel any event matters, as it may come between two steps.
 */
export function matchedEvents(
  scope: EventScope,
  span: Span,
  { steps, exclusions, order, breakdown }: FunnelQuery,
): Sql {
  const relevant = order === 'strict' ? sql`true` : matchAnyEntity(scope, [...steps, ...exclusions]);
  const flags = (entities: typeof steps) =>
    sql`array[${joinSql(
      entities.map((entity) => matchEntity(scope, entity)),
      ', ',
    )}]::boolean[]`;
  return sql`select ${ACTOR} as actor, e.timestamp as at, e.uuid, ${flags(steps)} as steps,
      ${flags(exclusions)} as exclusions, ${breakdown ? selectText(breakdown) : sql`''`} as value
    ${eventsWhere(scope, span, relevant)}`;
}

/** The value of the breakdown that each person's first or last step event with one has. */
function touchedValues({ breakdown, attribution }: FunnelQuery): Sql {
  if (breakdown === undefined) return sql`select null::text as actor, null::text as value limit 0`;
  const latest = attribution === 'last_touch' ? sql`desc` : sql``;
  return sql`select distinct on (actor) actor, value from matched where true = any(steps) and value <> ''
    order by actor, at ${latest}, uuid ${latest}`;
}

const UNITS: Readonly<Record<FunnelWindow['unit'], Sql>> = {
  second: sql`interval '1 second'`,
  minute: sql`interval '1 minute'`,
  hour: sql`interval '1 hour'`,
  // A day of the database may have 23 hours.
  day: sql`interval '24 hours'`,
  week: sql`interval '168 hours'`,
  month: sql`interval '1 month'`,
};

export const toInterval = ({ count, unit }: FunnelWindow): Sql => sql`(${count}::bigint * ${UNITS[unit]})`;

/** The times of the steps that were hit, up to the first that was not. */
const selectTimes = (times: readonly Sql[], hits: readonly Sql[]): Sql =>
  sql`(array[${joinSql(times, ', ')}])[:coalesce(
    array_position(array[${joinSql(hits, ', ')}], false) - 1, ${times.length}::integer)]`;

/**
 * A go for each event of the first step: from it to the earliest second step, and so on. Built from the
 * end: `next` of an event holds the times of the steps that follow it, the earliest chain there is. Arrays
 * compare by their first element, so that the least chain is the one that begins first. Times run
 * backwards, as Postgres extends a frame by the rows that enter it but recomputes it when rows leave.
 *
 * A step may share the moment of the one before, and even its event, unless both select the same events.
 * With each step go the times `barred` at which an exclusion follows it.
 */
function orderedGoes(scope: EventScope, { steps, exclusions, window }: FunnelQuery): Sql {
  const later = sql`over (partition by actor order by at desc
    range between unbounded preceding and '1 microsecond' preceding)`;
  const since = sql`over (partition by actor order by at desc range between unbounded preceding and current row)`;
  const barred = exclusions.map(
    (_, index) =>
      sql`coalesce(min(at) filter (where exclusions[${index + 1}::integer]) ${later}, 'infinity')`,
  );
  let chains = sql`select actor, at, uuid, steps, '{}'::timestamptz[] as next,
    array[${joinSql(barred, ', ')}]::timestamptz[] as barred from matched`;
  for (let step = steps.length - 1; step > 0; step--) {
    const [before, entity] = [steps[step - 1], steps[step]];
    const frame = before && entity && isSameEntity(before, entity) ? later : since;
    chains = sql`select actor, at, uuid, steps, barred,
        coalesce(min(at || barred || next) filter (where steps[${step + 1}::integer]) ${frame}, '{}') as next
      from (${chains}) as chains`;
  }
  const width = 1 + exclusions.length;
  const selectTime = (step: number) => sql`chain[${1 + step * width}::integer]`;
  const bars = exclusions.map(
    ({ from, to }, index) =>
      sql`chain[${2 + from * width + index}::integer] < least(${selectTime(to)}, at + ${toInterval(window)})`,
  );
  const times = steps.map((_, step) => selectTime(step));
  const hits = times.map((time) => sql`coalesce(${time} <= at + ${toInterval(window)}, false)`);
  return sql`select actor, uuid, ${selectTimes(times, hits)} as at
    from (select actor, uuid, at, at || barred || next as chain from (${chains}) as chains where steps[1]) as go
    where coalesce(${anyOf(bars)}, false) = false and ${inTime(scope.timeLimitMs)}`;
}

/** A go for each event of the first step: the next event is of the second step, and so on. */
function strictGoes(scope: EventScope, { steps, window }: FunnelQuery): Sql {
  const ahead = (what: Sql, step: number) => sql`lead(${what}, ${step}::integer) over each`;
  const times = steps.map((_, step) => ahead(sql`at`, step));
  const hits = steps.map(
    (_, step) => sql`coalesce((${ahead(sql`steps`, step)})[${step + 1}::integer]
      and ${ahead(sql`at`, step)} <= at + ${toInterval(window)}, false)`,
  );
  return sql`select actor, uuid, ${selectTimes(times, hits)} as at
    from matched where ${inTime(scope.timeLimitMs)} window each as (partition by actor order by at, uuid)`;
}

/** A go for each step event: it and the earliest of every other step that follows, in whatever order. */
function unorderedGoes(scope: EventScope, { steps, window }: FunnelQuery): Sql {
  const times = steps.map(
    (_, step) => sql`min(at) filter (where steps[${step + 1}::integer])
      over (partition by actor order by at desc range between unbounded preceding and current row)`,
  );
  return sql`select actor, uuid, array(
      select time from unnest(times) as t (time) where time <= go.at + ${toInterval(window)} order by time) as at
    from (select actor, at, uuid, array[${joinSql(times, ', ')}] as times from matched) as go
    where ${inTime(scope.timeLimitMs)}`;
}
