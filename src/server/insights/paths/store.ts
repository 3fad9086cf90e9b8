import type { Queryable } from '../../database/db.ts';
import { allOf, anyOf, type Sql, sql } from '../../database/sql.ts';
import { ACTOR, type EventScope, eventsWhere, runFacts, type Span, selectText } from '../events-store.ts';
import type { Steps } from '../steps.ts';
import type { PathEdge, PathsQuery } from './model.ts';

/** The edges that most sessions went along. */
export async function loadPaths(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  span: Span,
  query: PathsQuery,
): Promise<PathEdge[]> {
  const facts = await collectFacts(steps, scope, span, query);
  const rows = await runFacts<Omit<PathEdge, 'average_conversion_time'> & { readonly averageMs: number }>(
    tx,
    sql`select source, target, count(*) as value, avg(milliseconds) as "averageMs"
      from ${facts} as facts where target is not null
      group by source, target
      having count(*) between ${query.minEdgeWeight ?? 0}::bigint and ${query.maxEdgeWeight ?? MAX_WEIGHT}::bigint
      order by value desc, source, target limit ${query.edgeLimit}::integer`,
  );
  return rows.map(({ averageMs, ...edge }) => ({ ...edge, average_conversion_time: averageMs }));
}

async function collectFacts(steps: Steps, scope: EventScope, span: Span, query: PathsQuery): Promise<Sql> {
  const items = await steps.collect(scope, (within) => pathItems(within, span, query));
  return steps.derive([items], (of) => pathFacts(scope, of(items), query));
}

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
  const facts = await collectFacts(steps, scope, span, query);
  const conditions =
    end !== undefined
      ? [sql`source = ${end}::text`, sql`target is null`]
      : [
          ...(source === undefined ? [] : [sql`source = ${source}::text`, sql`target is not null`]),
          ...(target === undefined ? [] : [sql`target = ${target}::text`]),
        ];
  return sql`(select distinct actor from ${facts} as facts where ${allOf(conditions)})`;
}

const MAX_WEIGHT = Number.MAX_SAFE_INTEGER;

/** After such a pause a new session begins, and with it a new path. */
const SESSION_GAP = sql`interval '30 minutes'`;

/**
 * One fact for a person, a session of theirs and an item in it, with the item that followed, or null after the
 * last that is shown; an item that repeats itself counts once. A path begins with its session or at the starting
 * point, or it leads to the end point; then the steps right before that are shown. All windows have one order, so
 * that the items are sorted once.
 */
function pathFacts({ guard }: EventScope, itemsIn: Sql, query: PathsQuery): Sql {
  const { startPoint, endPoint, stepLimit } = query;
  const point = startPoint ?? endPoint;
  const each = sql`over (partition by actor order by at, uuid, item)`;
  const soFar = sql`over (partition by actor order by at, uuid, item rows unbounded preceding)`;
  const [first, isLast] =
    endPoint === undefined
      ? [point === undefined ? sql`1` : sql`met`, sql`false`]
      : [sql`greatest(met - ${stepLimit - 1}::integer, 1)`, sql`place = met`];
  const met =
    point === undefined
      ? sql`null::bigint`
      : sql`min(place) filter (where item = ${point}::text) over (partition by actor, session)`;
  return sql`with befores as (
      select actor, at, uuid, item, lag(at) ${each} as at_before, lag(item) ${each} as item_before
      from ${itemsIn} as parts),
    news as (
      select actor, at, uuid, item, coalesce(at - at_before >= ${SESSION_GAP}, true) as is_new, item_before
      from befores),
    numbers as (
      select actor, at, item, row_number() ${each} as number, is_new, lead(item) ${each} as item_after,
        lead(at) ${each} as at_after, lead(is_new) ${each} as ends_before_new, uuid
      from news where is_new or item <> item_before),
    sessions as (
      select *, max(number) filter (where is_new) ${soFar} as session from numbers),
    places as (select *, number - session + 1 as place from sessions),
    marked as (select *, ${met} as met from places),
    steps as (
      select *, place - ${first} + 1 as step, (coalesce(ends_before_new, true) or ${isLast}) as ends
      from marked where ${endPoint === undefined ? sql`true` : sql`place <= met`})
    select actor, session, step || '_' || item as source,
      case when not ends and step < ${stepLimit}::integer then (step + 1) || '_' || item_after end as target,
      case when not ends and step < ${stepLimit}::integer
        then extract(epoch from at_after - at)::float8 * 1000 end as milliseconds
    from steps where step between 1 and ${stepLimit}::integer and ${guard}`;
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
  // The last slash of an address is ignored, unless it is the whole address. With an offset, Postgres reads it once.
  return sql`select actor, at, uuid, item from (
      select actor, at, uuid, event, ${grouped} as item from (
        select ${ACTOR} as actor, e.timestamp as at, e.uuid, e.event,
          case e.event when '$pageview' then case when ${url} like '_%/' then left(${url}, -1) else ${url} end
            when '$screen' then ${screen} else e.event end as named
        ${eventsWhere(scope, span, wanted.length === 0 ? sql`true` : anyOf(wanted))} offset 0) as named_events) as items
    where item <> '' and item <> all(${exclude}::text[]) and event <> all(${exclude}::text[])`;
}

/** `/users/*` → `%/users/%%`: found anywhere in an item, as the service does it. */
const toLikePattern = (wildcard: string): string =>
  `%${wildcard.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')}%`;
