import { allOf, anyOf, joinSql, type Sql, sql } from '../../database/sql.ts';
import { selectValue, unnestCohorts } from '../breakdown-store.ts';
import { type Breakdown, isSameEntity } from '../entity.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  findBucket,
  matchAnyEntity,
  matchEntity,
  matchPersonCohort,
  type Span,
} from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import type { FunnelQuery, FunnelWindow } from './model.ts';

/**
 * One fact a person who entered: how many `steps` they reached in one go, the times `at` of these, and the
 * `value` of the breakdown. Of several goes the one that came furthest counts, the earliest of these. Goes that
 * begin at the same moment and come as far differ in nothing, or the one with the least times is the earliest: so
 * the best one is the least array of how far it came, when it began, and its times.
 */
export function funnelFacts(scope: EventScope, matched: Sql, query: FunnelQuery): Sql {
  const best = sql`best as (
    select actor, max(reached) as steps, min(array[to_timestamp(-reached), start] || chain) as go
    from goes group by actor)`;
  const { breakdown } = query;
  if (breakdown === undefined) {
    return sql`with ${selectGoes(scope, matched, query)}, ${best}
      select actor, steps, ${selectTimes(query)} as at, '' as value from best`;
  }
  return sql`with ${selectGoes(scope, matched, query)}, ${best}
    select best.actor, steps, ${selectTimes(query)} as at, coalesce(touched.value, '') as value
    from best ${joinValues(scope, query, breakdown, sql`best`)}`;
}

/**
 * One fact for a person and a `period` in which they entered, from 1: how many `steps` the go reached that came
 * furthest of those that began in it, and the `value` of the breakdown.
 */
export function funnelFactsByPeriod(
  scope: EventScope,
  matched: Sql,
  query: FunnelQuery,
  { starts }: Pick<Buckets, 'starts'>,
): Sql {
  const periods = sql`
    select actor, ${findBucket(sql`start`, starts)} as period, max(reached) as steps from goes group by 1, 2`;
  const { breakdown } = query;
  if (breakdown === undefined) {
    return sql`with ${selectGoes(scope, matched, query)}
      select *, '' as value from (${periods}) as periods`;
  }
  return sql`with ${selectGoes(scope, matched, query)}
    select periods.*, coalesce(touched.value, '') as value
    from (${periods}) as periods ${joinValues(scope, query, breakdown, sql`periods`)}`;
}

/**
 * CTEs of the events that matter and of the goes that they make: who, when it started, how many steps it reached,
 * and a `chain` that the times of these are in.
 */
function selectGoes(scope: EventScope, matched: Sql, query: FunnelQuery): Sql {
  const goes = { ordered: orderedGoes, strict: strictGoes, unordered: unorderedGoes }[query.order];
  return sql`matched as (select * from ${matched} as parts), goes as (${goes(scope, query)})`;
}

/**
 * Every event that an attempt can consist of: the bits of `steps` and `exclusions` say which of these it is. In a
 * strict funnel any event matters, as it may come between two steps. What is not needed is left out, as all of it
 * is sorted.
 */
export function matchedEvents(
  scope: EventScope,
  span: Span,
  { steps, exclusions, order, breakdown }: FunnelQuery,
): Sql {
  const relevant = order === 'strict' ? sql`true` : matchAnyEntity(scope, [...steps, ...exclusions]);
  const flags = (entities: typeof steps) =>
    joinSql(
      [
        sql`0`,
        ...entities.map(
          (entity, index) =>
            sql`case when ${matchEntity(scope, entity)} then ${2 ** index}::integer else 0 end`,
        ),
      ],
      ' + ',
    );
  const hasTies = order === 'strict' || breakdown !== undefined;
  return sql`select ${ACTOR} as actor, e.timestamp as at, ${hasTies ? sql`e.uuid` : sql`null::uuid`} as uuid,
      ${flags(steps)} as steps, ${flags(exclusions)} as exclusions,
      ${breakdown?.owner === 'cohort' ? sql`''` : selectValue(scope, breakdown)} as value
    ${eventsWhere(scope, span, relevant)}`;
}

/** Joins `touched`: the value of each person, or a row for each of the cohorts that they are in. */
function joinValues(scope: EventScope, query: FunnelQuery, breakdown: Breakdown, of: Sql): Sql {
  if (breakdown.owner !== 'cohort') {
    return sql`left join (${touchedValues(query)}) as touched on touched.actor = ${of}.actor`;
  }
  const values = unnestCohorts(breakdown.cohorts, (id) => matchPersonCohort(scope, id));
  return sql`join (
    select actor, ${values} as value from (select distinct actor from matched) as actors
    left join persons p on p.id = case when actor ~ '^[0-9]' then actor::integer end
  ) as touched on touched.actor = ${of}.actor`;
}

/** The value of the breakdown that each person's first or last step event with one has. */
function touchedValues({ attribution }: FunnelQuery): Sql {
  const latest = attribution === 'last_touch' ? sql`desc` : sql``;
  return sql`select distinct on (actor) actor, value from matched where steps <> 0 and value <> ''
    order by actor, at ${latest}, uuid ${latest}`;
}

/** Whether `flags` have the bit of a step or exclusion. */
const isAt = (flags: Sql, index: number): Sql => sql`(${flags} & ${2 ** index}::integer) <> 0`;

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

/** The times of the steps that the best `go` reached: it has two more elements in front of the chain. */
function selectTimes({ steps, exclusions, order, window }: FunnelQuery): Sql {
  if (order === 'unordered') {
    return sql`array(
      select time from unnest(go[3:]) as t (time) where time <= go[2] + ${toInterval(window)} order by time)`;
  }
  const width = 1 + exclusions.length;
  const times = steps.map((_, step) => sql`go[${3 + step * width}::integer]`);
  return sql`(array[${joinSql(times, ', ')}])[:steps]`;
}

/** How many steps were reached, when those after the first were hit or not, up to the first that was not. */
const countReached = (hits: readonly Sql[]): Sql =>
  sql`case ${joinSql(
    hits.map((hit, index) => sql`when (${hit}) is not true then ${index + 1}::integer`),
    ' ',
  )} else ${hits.length + 1}::integer end`;

/**
 * A go for each event of the first step: from it to the earliest second step, and so on. Built from the
 * end: `next` of an event holds the times of the steps that follow it, the earliest chain there is. Arrays
 * compare by their first element, so that the least chain is the one that begins first. Times run
 * backwards, as Postgres extends a frame by the rows that enter it but recomputes it when rows leave.
 *
 * A step may share the moment of the one before, and even its event, unless both select the same events.
 * With each step go the times at which an exclusion follows it.
 */
function orderedGoes({ guard }: EventScope, { steps, exclusions, window }: FunnelQuery): Sql {
  const later = sql`over (partition by actor order by at desc
    range between unbounded preceding and '1 microsecond' preceding)`;
  const since = sql`over (partition by actor order by at desc range between unbounded preceding and current row)`;
  const barred = exclusions.map(
    (_, index) => sql`coalesce(min(at) filter (where ${isAt(sql`exclusions`, index)}) ${later}, 'infinity')`,
  );
  const own = exclusions.length === 0 ? sql`array[at]` : sql`at || barred`;
  let chains = sql`select actor, at, steps, '{}'::timestamptz[] as next,
    array[${joinSql(barred, ', ')}]::timestamptz[] as barred from matched`;
  for (let step = steps.length - 1; step > 0; step--) {
    const [before, entity] = [steps[step - 1], steps[step]];
    const frame = before && entity && isSameEntity(before, entity) ? later : since;
    const chain = step === steps.length - 1 ? own : sql`${own} || next`;
    chains = sql`select actor, at, steps, barred,
        min(${chain}) filter (where ${isAt(sql`steps`, step)}) ${frame} as next
      from (${chains}) as chains`;
  }
  const width = 1 + exclusions.length;
  const selectTime = (step: number) => sql`chain[${1 + step * width}::integer]`;
  const bars = exclusions.map(
    ({ from, to }, index) =>
      sql`chain[${2 + from * width + index}::integer] < least(${selectTime(to)}, at + ${toInterval(window)})`,
  );
  const hits = steps.slice(1).map((_, index) => sql`${selectTime(index + 1)} <= at + ${toInterval(window)}`);
  const wanted = allOf([guard, ...(bars.length === 0 ? [] : [sql`${anyOf(bars)} is not true`])]);
  return sql`select actor, at as start, ${countReached(hits)} as reached, chain
    from (select actor, at, ${own} || next as chain from (${chains}) as chains
      where ${isAt(sql`steps`, 0)}) as go
    where ${wanted}`;
}

/** A go for each event of the first step: the next event is of the second step, and so on. */
function strictGoes({ guard }: EventScope, { steps, window }: FunnelQuery): Sql {
  const ahead = (what: Sql, step: number) => sql`lead(${what}, ${step}::integer) over each`;
  const later = steps.slice(1).map((_, index) => index + 1);
  const hits = later.map(
    (step) =>
      sql`${isAt(ahead(sql`steps`, step), step)} and ${ahead(sql`at`, step)} <= at + ${toInterval(window)}`,
  );
  const times = [sql`at`, ...later.map((step) => ahead(sql`at`, step))];
  return sql`select actor, start, reached, chain from (
      select actor, at as start, steps, ${countReached(hits)} as reached, array[${joinSql(times, ', ')}] as chain
      from matched window each as (partition by actor order by at, uuid)) as each_event
    where ${isAt(sql`steps`, 0)} and ${guard}`;
}

/** A go for each step event: it and the earliest of every other step that follows, in whatever order. */
function unorderedGoes({ guard }: EventScope, { steps, window }: FunnelQuery): Sql {
  const times = steps.map(
    (_, step) => sql`min(at) filter (where ${isAt(sql`steps`, step)})
      over (partition by actor order by at desc range between unbounded preceding and current row)`,
  );
  const hits = steps.map(
    (_, step) => sql`case when chain[${step + 1}::integer] <= at + ${toInterval(window)} then 1 else 0 end`,
  );
  return sql`select actor, at as start, ${joinSql(hits, ' + ')} as reached, chain
    from (select actor, at, array[${joinSql(times, ', ')}] as chain from matched) as go where ${guard}`;
}
