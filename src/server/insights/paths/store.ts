import type { Queryable } from '../../database/db.ts';
import { allOf, anyOf, type Sql, sql } from '../../database/sql.ts';
import { ACTOR, type EventScope, eventsWhere, runFacts, type Span, selectText } from '../events-store.ts';
import type { Steps } from '../steps.ts';
import type { PathEdge, PathsQuery } from './model.ts';

/**
 * The edges that most sessions went along. They are counted by their items, so that each has its keys made once. Of
 * `step > 1` beside another bound Postgres would expect next to nothing, and sort what it can count unsorted.
 */
export async function loadPaths(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: PathsQuery,
): Promise<PathEdge[]> {
  const items = await steps.collect(scope, (within) => pathItems(within, span, query));
  const counted = await steps.derive(
    [items],
    (of) => sql`select step, item_before, item, count(*) as value, sum(milliseconds) as milliseconds
      from (${pathFacts(scope, of(items), query)}) as facts where step <> 1
      group by step, item_before, item`,
    sql`step bigint, item_before text collate "C", item text collate "C", value bigint, milliseconds float8`,
  );
  const rows = await runFacts<Omit<PathEdge, 'average_conversion_time'> & { readonly averageMs: number }>(
    tx,
    sql`select ${SOURCE} as source, ${TARGET} as target, value, milliseconds / value as "averageMs"
      from (
        select step, item_before, item, sum(value)::bigint as value, sum(milliseconds) as milliseconds
        from ${counted} as counted group by step, item_before, item) as edges
      where value between ${query.minEdgeWeight ?? 0}::bigint and ${query.maxEdgeWeight ?? MAX_WEIGHT}::bigint
      order by value desc, source, target limit ${query.edgeLimit}::integer`,
  );
  return rows.map(({ averageMs, ...edge }) => ({ ...edge, average_conversion_time: averageMs }));
}

/** Keys of items as edges name them. */
const SOURCE = sql`(step - 1 || '_' || item_before)`;
const TARGET = sql`(step || '_' || item)`;

/** A part of paths by its items, as `source` and `target` of edges name them. */
export interface PathPart {
  /** Who went on from there. */
  readonly source: string | undefined;
  /** Who came there from another item. */
  readonly target: string | undefined;
  /** Whose path ended there; then the others do not matter. */
  readonly end: string | undefined;
}

/** The persons who went along a part of the paths; everybody with a path where it names nothing. */
export async function findOnPaths(
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: PathsQuery,
  { source, target, end }: PathPart,
): Promise<Sql> {
  const items = await steps.collect(scope, (within) => pathItems(within, span, query));
  const conditions =
    end !== undefined
      ? [sql`${TARGET} = ${end}::text`, sql`(ends or step = ${query.stepLimit}::integer)`]
      : [
          ...(source === undefined ? [] : [sql`step <> 1 and ${SOURCE} = ${source}::text`]),
          ...(target === undefined ? [] : [sql`step <> 1 and ${TARGET} = ${target}::text`]),
        ];
  return steps.derive(
    [items],
    (of) =>
      sql`select distinct actor from (${pathFacts(scope, of(items), query)}) as facts where ${allOf(conditions)}`,
    sql`actor text collate "C"`,
  );
}

const MAX_WEIGHT = Number.MAX_SAFE_INTEGER;

/** After such a pause a new session begins, and with it a new path. */
const SESSION_GAP = sql`interval '30 minutes'`;

/**
 * One fact for a person, a session of theirs and an item in it: its `step`, from the second on with what came before,
 * and whether the path `ends` there; an item that repeats itself counts once. A path begins with its session or at the
 * starting point, or it leads to the end point; then the steps right before that are shown. All windows have one
 * order, so that the items are sorted once; nothing here is a CTE, behind which Postgres would sort again.
 */
function pathFacts({ guard }: EventScope, itemsIn: Sql, query: PathsQuery): Sql {
  const items = sql`(
    select actor, at, item, item_before, coalesce(at - at_before >= ${SESSION_GAP}, true) as is_new
    from (
      select actor, at, item, lag(at) ${FIRST_ORDER} as at_before, lag(item) ${FIRST_ORDER} as item_before
      from ${itemsIn} as parts) as befores) as news
    where is_new or item <> item_before`;
  const hasPoint = query.startPoint !== undefined || query.endPoint !== undefined;
  return sql`select actor, step, item_before, item, ends, date_part('epoch', at - at_before) * 1000 as milliseconds
    from (${hasPoint ? stepsAtPoint(items, query) : stepsOfSessions(items)}) as steps
    where step <= ${query.stepLimit}::integer and ${guard}`;
}

const FIRST_ORDER = sql`over (partition by actor order by at, uuid, item)`;

/** What is sorted already stays as it is: the rows need not carry all that they were sorted by. */
const EACH = sql`over (partition by actor order by at)`;

const SO_FAR = sql`over (partition by actor order by at rows unbounded preceding)`;

/**
 * Each item with its `place` in its session, from 1. Numbers cost the same however many steps are shown; looking back
 * from each item for the beginning of its session took one window function a step.
 */
const placeItems = (items: Sql): Sql => sql`
  select actor, at, at_before, item_before, item, ends, session, number - session + 1 as place from (
    select actor, at, at_before, item_before, item, ends, number, max(number) filter (where is_new) ${SO_FAR} as session
    from (
      select actor, at, item_before, item, is_new, row_number() ${EACH} as number, lag(at) ${EACH} as at_before,
        coalesce(lead(is_new) ${EACH}, true) as ends
      from ${items}) as numbers
    ) as sessions`;

/** Of paths that begin with their session. */
const stepsOfSessions = (items: Sql): Sql =>
  sql`select actor, at, at_before, item_before, item, ends, place as step from (${placeItems(items)}) as places`;

/** Of paths that begin or end at an item. */
function stepsAtPoint(items: Sql, { startPoint, endPoint, stepLimit }: PathsQuery): Sql {
  const point = startPoint ?? endPoint ?? '';
  const first = endPoint === undefined ? sql`met` : sql`greatest(met - ${stepLimit - 1}::integer, 1)`;
  return sql`select actor, at, at_before, item_before, item, place - ${first} + 1 as step,
      ends or ${endPoint === undefined ? sql`false` : sql`place = met`} as ends
    from (
      select *, min(place) filter (where item = ${point}::text) over (partition by actor, session) as met
      from (${placeItems(items)}) as places
    ) as marked
    where place >= ${first} ${endPoint === undefined ? sql`` : sql`and place <= met`}`;
}

/** What a path is made of: addresses of page views, names of screens, names of other events. */
function pathItems(scope: EventScope, span: Span, { include, exclude, groupings }: PathsQuery): Sql {
  const url = selectText({ owner: 'event', key: '$current_url' });
  const screen = selectText({ owner: 'event', key: '$screen_name' });
  const wanted = [
    ...(include.pageviews ? [sql`e.event = '$pageview'`] : []),
    ...(include.screens ? [sql`e.event = '$screen'`] : []),
    ...(include.custom ? [sql`not starts_with(e.event, '$')`] : []),
    ...(include.events.length > 0 ? [sql`e.event = any(${include.events}::text[])`] : []),
  ];
  const grouped =
    groupings.length === 0
      ? sql`named`
      : sql`coalesce((
          select name from unnest(${groupings.map(toLikePattern)}::text[], ${groupings}::text[])
            with ordinality as wild (pattern, name, place)
          where named like pattern order by place limit 1), named)`;
  const address = sql`case when event = '$pageview' and raw like '_%/' then left(raw, -1) else raw end`;
  const wantsItem =
    exclude.length === 0
      ? sql`item <> ''`
      : sql`item <> '' and item <> all(${exclude}::text[]) and event <> all(${exclude}::text[])`;
  // The last slash of an address is ignored, unless it is the whole address. What is volatile stays where it is, and so
  // do conditions on it: properties are read once and not sorted with the items. An offset does the same, but only one
  // process at work.
  return sql`select actor, at, uuid, item from (
      select actor, at, uuid, event, read_at, ${grouped} as item from (
        select actor, at, uuid, event, read_at, ${address} as named from (
          select ${ACTOR} as actor, e.timestamp as at, e.uuid, e.event,
            case e.event when '$pageview' then ${url} when '$screen' then ${screen} else e.event end as raw,
            clock_timestamp() as read_at
          ${eventsWhere(scope, span, wanted.length === 0 ? sql`true` : anyOf(wanted))}) as raw_events
        ) as named_events) as items
    where case when read_at is not null then ${wantsItem} end`;
}

/** `/users/*` → `%/users/%%`: found anywhere in an item, as the service does it. */
const toLikePattern = (wildcard: string): string =>
  `%${wildcard.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')}%`;
