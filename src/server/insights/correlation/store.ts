import type { Queryable } from '../../database/db.ts';
import { allOf, type Sql, sql } from '../../database/sql.ts';
import { compileFilter } from '../../query/compile-filter.ts';
import type { FilterGroup } from '../../query/filter.ts';
import type { Entity } from '../entity.ts';
import {
  ACTOR,
  type EventScope,
  eventsWhere,
  knownBy,
  MAX_VALUE_CHARACTERS,
  matchEntity,
  READ_HERE,
  requireAction,
  runFacts,
  type Span,
} from '../events-store.ts';
import { FACT_COLUMNS, funnelFacts, matchedEvents, toInterval } from '../funnel/facts.ts';
import type { FunnelQuery } from '../funnel/model.ts';
import type { Steps } from '../steps.ts';
import { type CorrelationRow, LEAST_PERSONS, LEAST_SHARE } from './odds.ts';

/** Some of those who entered a funnel. */
export interface CorrelatedPart {
  readonly query: FunnelQuery;
  /** Whether they reached the last step; undefined: all. */
  readonly converted: boolean | undefined;
  /** They did this after the first step, before the last one or the end of the window. */
  readonly entity?: Entity;
  /** They are like this now. */
  readonly property?: FilterGroup;
}

/** The persons of that part. */
export async function findCorrelated(
  steps: Steps,
  scope: EventScope,
  span: Span,
  { query, converted, entity, property }: CorrelatedPart,
): Promise<Sql> {
  const last = query.steps.length;
  const wanted =
    converted === undefined
      ? sql`true`
      : converted
        ? sql`steps = ${last}::integer`
        : sql`steps < ${last}::integer`;
  const matched = await steps.collect(scope, (within) => matchedEvents(within, span, query));
  if (entity === undefined) {
    const facts = await steps.derive([matched], (of) => funnelFacts(scope, of(matched), query), FACT_COLUMNS);
    const like = property === undefined ? sql`true` : isLike(scope, property);
    return sql`(select facts.actor from ${facts} as facts
      left join persons p on p.id = case when facts.actor ~ '^[0-9]' then facts.actor::integer end
      where ${wanted} and ${like})`;
  }
  const others = await steps.collect(scope, (within) => otherEvents(within, span, query, entity));
  return steps.derive(
    [matched, others],
    (of) => sql`with facts as (${funnelFacts(scope, of(matched), query)})
      select distinct facts.actor from facts join ${of(others)} as others on others.actor = facts.actor
      where ${wanted} and ${isOnTheWay(query)}`,
    sql`actor text collate "C"`,
  );
}

/** Whether `others` are between the first step of `facts` and the last one, or the end of the window. */
const isOnTheWay = ({ steps: { length: last }, window }: FunnelQuery): Sql =>
  sql`others.at > facts.at[1] and others.at < case when steps = ${last}::integer then facts.at[${last}::integer]
    else facts.at[1] + ${toInterval(window)} end`;

/** Events of that kind; those that the steps are about do not count. */
const otherEvents = (scope: EventScope, span: Span, query: FunnelQuery, entity: Entity): Sql =>
  sql`select ${ACTOR} as actor, e.timestamp as at
    ${eventsWhere(scope, span, sql`${matchEntity(scope, entity)} and ${isNoStep(scope, query)}`)}`;

const isNoStep = (scope: EventScope, { steps }: FunnelQuery): Sql =>
  sql`e.event <> all(${steps.flatMap((step) => listStepNames(scope, step))}::text[])`;

/** Of an action those names that its steps have, even where others have none, as in the service. */
const listStepNames = (scope: EventScope, { event, saved }: Entity): readonly string[] =>
  saved === undefined
    ? event === null
      ? []
      : [event]
    : requireAction(scope, saved).steps.flatMap((step) => step.event ?? []);

/** What persons may have in common. */
export type CorrelatedThings =
  | { readonly type: 'events'; readonly excluded: readonly string[] }
  | {
      readonly type: 'event_with_properties';
      readonly events: readonly string[];
      readonly excluded: readonly string[];
    }
  | {
      readonly type: 'properties';
      /** Undefined: every property. */
      readonly names: readonly string[] | undefined;
      readonly excluded: readonly string[];
    };

/** Of the things that most persons have. */
const MOST_THINGS = 20_000;

/**
 * How many persons of a funnel have each of these things, by whether they converted. What is rare (odds.ts) stays in the
 * database: ids and times are most of the labels, and each is one person's.
 */
export async function countCorrelated(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: FunnelQuery,
  things: CorrelatedThings,
): Promise<CorrelationRow[]> {
  const matched = await steps.collect(scope, (within) => matchedEvents(within, span, query));
  const others =
    things.type === 'properties'
      ? undefined
      : await steps.collect(scope, (within) => otherThings(within, span, query, things));
  const last = query.steps.length;
  const counted = await steps.derive(
    others === undefined ? [matched] : [matched, others],
    (of) => sql`with facts as (
          select case when steps = ${last}::integer then 1 else -1 end * row_number() over () as person, each_fact.*
          from (${funnelFacts(scope, of(matched), query)}) as each_fact),
        ${
          others === undefined || things.type === 'properties'
            ? labelledPersons(things)
            : labelledOthers(of(others), query, things)
        }
      select a, b, c, ${BY_OUTCOME} from having_it group by c, b, a
      union all
      select null, null, null, ${BY_OUTCOME} from facts`,
    sql`a text collate "C", b text collate "C", c text collate "C", success bigint, failure bigint`,
  );
  const added = sql`(select a, b, c, sum(success)::bigint as success, sum(failure)::bigint as failure
    from ${counted} as counted group by c, b, a)`;
  return runFacts(
    tx,
    sql`with things as ${added}
      select nullif(array_remove(array[a, b, c], null), '{}') as label, success, failure
      from things
      where a is null or success + failure >= least(${LEAST_PERSONS}::integer,
        ${LEAST_SHARE}::float8 * (select success + failure from things where a is null))
      order by a is not null, success + failure desc, a collate "C", b collate "C", c collate "C"
      limit ${MOST_THINGS}::integer`,
  );
}

/** The numbers of persons who converted are above 0, those of all others below. */
const BY_OUTCOME = sql`count(*) filter (where person > 0) as success, count(*) filter (where person < 0) as failure`;

/**
 * The properties of a table that are a single value, as text. Read as text from the start they take a third less time,
 * but one that looks like a list or an object may be a text, too: then its type is looked up.
 *
 * Postgres expects few to be what is named and most to be anything else, which is true here: expecting few rows it
 * would sort a million.
 */
const singleValues = (properties: Sql, condition: Sql): Sql =>
  sql`cross join lateral jsonb_each_text(${properties}) as member (key, value)
    where ${condition} and member.value is not null and (left(member.value, 1) not in ('[', '{')
      or jsonb_typeof(${properties} -> key) not in ('object', 'array'))`;

const VALUE = sql`left(member.value, ${MAX_VALUE_CHARACTERS}::integer) collate "C"`;

type CorrelatedEvents = Exclude<CorrelatedThings, { readonly type: 'properties' }>;

/**
 * Events with what is needed to label them. A volatile column makes their actor a column, too, which is cheap to compare:
 * otherwise Postgres would rather sort properties than look actors up.
 */
function otherThings(scope: EventScope, span: Span, query: FunnelQuery, things: CorrelatedEvents): Sql {
  const wanted =
    things.type === 'events'
      ? sql`${isNoStep(scope, query)} and e.event <> all(${things.excluded}::text[])`
      : sql`${isNoStep(scope, query)} and e.event = any(${things.events}::text[])`;
  const properties = things.type === 'events' ? sql`` : sql`, e.properties, ${READ_HERE}`;
  return sql`select ${ACTOR} as actor, e.timestamp as at, e.event${properties}
    ${eventsWhere(scope, span, wanted)}`;
}

/**
 * CTE of what persons did on their way, once each, by the parts `a`, `b` and `c` of its label: arrays take longer to
 * tell apart, and so do actors than the numbers of `person`. Labels are told apart from their end, as bytes: values
 * differ early, where names are the same for many. Properties become rows only there: they are twenty times as many as
 * events, most of which are not on the way of anybody. Those of the `only` event of a person are different anyway.
 */
function labelledOthers(others: Sql, query: FunnelQuery, things: CorrelatedEvents): Sql {
  const onTheWay = sql`facts join ${others} as others on others.actor = facts.actor where ${isOnTheWay(query)}`;
  if (things.type === 'events') {
    return sql`having_it as (
      select distinct person, others.event as a, null as b, null as c from ${onTheWay})`;
  }
  const label = (condition: Sql) => sql`${VALUE} as c, key collate "C" as b, event as a
    from own ${singleValues(sql`own.properties`, allOf([condition, sql`key <> all(${things.excluded}::text[])`]))}`;
  return sql`own as materialized (
      select person, others.event, others.properties, count(*) over (partition by person) = 1 as is_only
      from ${onTheWay}),
    having_it as (
      select person, ${label(sql`is_only`)}
      union all
      select * from (select distinct person, ${label(sql`not is_only`)}) as several)`;
}

function labelledPersons(things: CorrelatedThings): Sql {
  const names = things.type === 'properties' ? things.names : undefined;
  const isNamed = names === undefined ? sql`true` : sql`key = any(${names}::text[])`;
  const isWanted = allOf([isNamed, sql`key <> all(${things.excluded}::text[])`]);
  return sql`having_it as (select person, key collate "C" as a, ${VALUE} as b, null as c
    from facts
    join persons p on p.id = case when facts.actor ~ '^[0-9]' then facts.actor::integer end
    ${singleValues(sql`p.properties`, isWanted)})`;
}

const isLike = (scope: EventScope, property: FilterGroup): Sql =>
  compileFilter(property, {
    ...knownBy(scope),
    attr: 'funnel_correlation_property_values',
    person: { id: sql`p.id`, properties: sql`coalesce(p.properties, '{}')` },
  });
