import { allOf, anyOf, joinSql, type Sql, sql } from '../../database/sql.ts';
import { selectValue, unnestCohorts } from '../breakdown-store.ts';
import { type Breakdown, type Entity, isSameEntity } from '../entity.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  findBucket,
  matchAnyEntity,
  matchEntity,
  matchPersonCohort,
  READ_HERE,
  type Span,
} from '../events-store.ts';
import type { Buckets } from '../intervals.ts';
import { BARS, nameOf, TIMES } from './columns.ts';
import type { FunnelQuery, FunnelWindow } from './model.ts';

/**
 * One fact a person who entered: how many `steps` they reached in one go, the times `at` of these, and the
 * `value` of the breakdown. Of several goes the one that came furthest counts, the earliest of these.
 *
 * Of two goes that came as far none of the earlier one's times is later than the other's, so that each of its
 * times is the least there is. It takes one pass to find them, as goes that came less far are put off by ages.
 */
export function funnelFacts(scope: EventScope, matched: Sql, query: FunnelQuery): Sql {
  const ages = putOff(query.steps.length);
  const columns = [sql`start`, ...listTimes(query)];
  const least = columns.map((column) => sql`min(${column} + ${ages}[reached]) as ${column}`);
  const best = sql`best as (
    select actor, max(reached) as steps, ${joinSql(least, ', ')} from goes group by actor)`;
  const own = columns.map((column) => sql`${column} - ${ages}[steps] as ${column}`);
  const facts = sql`(select actor, steps, ${joinSql(own, ', ')} from best) as facts`;
  const { breakdown } = query;
  if (breakdown === undefined) {
    return sql`with ${selectGoes(scope, matched, query)}, ${best}
      select actor, steps, ${selectTimes(query)} as at, '' as value from ${facts}`;
  }
  return sql`with ${selectGoes(scope, matched, query)}, ${best}
    select facts.actor, steps, ${selectTimes(query)} as at, coalesce(touched.value, '') as value
    from ${facts} ${joinValues(scope, query, breakdown, sql`facts`)}`;
}

/** Of `funnelFacts`. */
export const FACT_COLUMNS = sql`actor text collate "C", steps integer, at timestamptz[], value text collate "C"`;

/** Ten thousand years: longer than any range of dates. In hours, which the calendar has no part in. */
const AGE = sql`interval '87700000 hours'`;

/** By how many steps were reached, from 1: none for all of them, and an age for each that is missing. */
const putOff = (stepCount: number): Sql =>
  sql`(array[${joinSql(
    Array.from({ length: stepCount }, (_, index) => sql`${stepCount - 1 - index}::integer * ${AGE}`),
    ', ',
  )}])`;

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
 * and the times of the steps, some of which may be out of its reach.
 */
function selectGoes(scope: EventScope, matched: Sql, query: FunnelQuery): Sql {
  const goes = { ordered: orderedGoes, strict: strictGoes, unordered: unorderedGoes }[query.order];
  // A CTE that Postgres cannot take apart would be read by one process alone.
  if (query.breakdown === undefined) return sql`goes as (${goes(scope, query, sql`${matched} as matched`)})`;
  return sql`matched as (select * from ${matched} as parts), goes as (${goes(scope, query, sql`matched`)})`;
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
  const readsProperties = [...steps, ...exclusions].some(asksMore) || breakdown !== undefined;
  return sql`select actor, at, uuid, steps, exclusions, value from (
      select ${ACTOR} as actor, e.timestamp as at, ${hasTies ? sql`e.uuid` : sql`null::uuid`} as uuid,
        ${flags(steps)} as steps, ${flags(exclusions)} as exclusions,
        ${breakdown?.owner === 'cohort' ? sql`''` : selectValue(scope, breakdown)} as value
        ${readsProperties ? sql`, ${READ_HERE}` : sql``}
      ${eventsWhere(scope, span, relevant)}) as matched_events`;
}

/** Whether it takes more than its name to know an event of the entity. */
const asksMore = ({ saved, filter }: Entity): boolean => saved !== undefined || filter.members.length > 0;

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

/** Columns of goes besides their start: in a funnel without an order also the time of the first step. */
const listTimes = ({ steps, order }: FunnelQuery): readonly Sql[] =>
  TIMES.slice(order === 'unordered' ? 0 : 1, steps.length);

/** The times of the steps that a go reached. */
function selectTimes(query: FunnelQuery): Sql {
  const times = joinSql(
    query.order === 'unordered' ? listTimes(query) : [sql`start`, ...listTimes(query)],
    ', ',
  );
  if (query.order === 'unordered') {
    return sql`array(
      select time from unnest(array[${times}]) as t (time)
      where time <= start + ${toInterval(query.window)} order by time)`;
  }
  return sql`(array[${times}])[:steps]`;
}

/** How many steps were reached, when those after the first were hit or not, up to the first that was not. */
const countReached = (hits: readonly Sql[]): Sql =>
  sql`case ${joinSql(
    hits.map((hit, index) => sql`when (${hit}) is not true then ${index + 1}::integer`),
    ' ',
  )} else ${hits.length + 1}::integer end`;

/**
 * A go for each event of the first step: from it to the earliest second step, and so on. Built from the end: each
 * event gets the times of the steps that follow it. The earliest event of a step has the earliest of what follows
 * any of them, so that each time is the least of its own. Times run backwards, as Postgres extends a frame by the
 * rows that enter it but recomputes it when rows leave.
 *
 * A step may share the moment of the one before, and even its event, unless both select the same events.
 * With the step that an exclusion begins at goes the time at which it follows.
 */
function orderedGoes({ guard }: EventScope, { steps, exclusions, window }: FunnelQuery, matched: Sql): Sql {
  const later = sql`over (partition by actor order by at desc
    range between unbounded preceding and '1 microsecond' preceding)`;
  const since = sql`over (partition by actor order by at desc range between unbounded preceding and current row)`;
  const all = exclusions.map((exclusion, index) => ({
    ...exclusion,
    index,
    bar: nameOf(BARS, index),
  }));
  const barred = all.map(
    ({ index, bar }) =>
      sql`, coalesce(min(at) filter (where ${isAt(sql`exclusions`, index)}) ${later}, 'infinity') as ${bar}`,
  );
  let chains = sql`select actor, at, steps ${joinSql(barred, ' ')} from ${matched}`;
  for (let step = steps.length - 1; step > 0; step--) {
    const [before, entity] = [steps[step - 1], steps[step]];
    const frame = before && entity && isSameEntity(before, entity) ? later : since;
    const least = (column: Sql) => sql`min(${column}) filter (where ${isAt(sql`steps`, step)}) ${frame}`;
    const next = [
      sql`, ${least(sql`at`)} as ${nameOf(TIMES, step)}`,
      ...TIMES.slice(step + 1, steps.length).map((time) => sql`, ${least(time)} as ${time}`),
      ...all.map(({ from, bar }) => (from < step ? sql`, ${bar}` : sql`, ${least(bar)} as ${bar}`)),
    ];
    chains = sql`select actor, at, steps ${joinSql(next, ' ')} from (${chains}) as chains`;
  }
  const times = TIMES.slice(1, steps.length);
  const hits = times.map((time) => sql`${time} <= at + ${toInterval(window)}`);
  const bars = all.map(
    ({ to, bar }) => sql`${bar} < least(${nameOf(TIMES, to)}, at + ${toInterval(window)})`,
  );
  const wanted = allOf([
    sql`${isAt(sql`steps`, 0)} and ${guard}`,
    ...(bars.length === 0 ? [] : [sql`${anyOf(bars)} is not true`]),
  ]);
  return sql`select ${joinSql([sql`actor, at as start, ${countReached(hits)} as reached`, ...times], ', ')}
    from (${chains}) as chains where ${wanted}`;
}

/** A go for each event of the first step: the next event is of the second step, and so on. */
function strictGoes({ guard }: EventScope, { steps, window }: FunnelQuery, matched: Sql): Sql {
  const ahead = (what: Sql, step: number) => sql`lead(${what}, ${step}::integer) over each`;
  const later = steps.slice(1).map((_, index) => index + 1);
  const hits = later.map(
    (step) =>
      sql`${isAt(ahead(sql`steps`, step), step)} and ${ahead(sql`at`, step)} <= at + ${toInterval(window)}`,
  );
  const times = later.map((step) => sql`, ${ahead(sql`at`, step)} as ${nameOf(TIMES, step)}`);
  return sql`select * from (
      select actor, at as start, ${countReached(hits)} as reached, steps ${joinSql(times, ' ')}
      from ${matched} window each as (partition by actor order by at, uuid)) as each_event
    where ${isAt(sql`steps`, 0)} and ${guard}`;
}

/** A go for each step event: it and the earliest of every other step that follows, in whatever order. */
function unorderedGoes({ guard }: EventScope, query: FunnelQuery, matched: Sql): Sql {
  const columns = listTimes(query);
  const times = columns.map(
    (time, step) => sql`min(at) filter (where ${isAt(sql`steps`, step)})
      over (partition by actor order by at desc range between unbounded preceding and current row) as ${time}`,
  );
  const hits = columns.map(
    (time) => sql`case when ${time} <= start + ${toInterval(query.window)} then 1 else 0 end`,
  );
  return sql`select *, ${joinSql(hits, ' + ')} as reached
    from (select actor, at as start, ${joinSql(times, ', ')} from ${matched}) as go where ${guard}`;
}
