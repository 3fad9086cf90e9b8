import type { Semaphore } from '../../../lib/async/semaphore.ts';
import type { Db } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { Page } from '../../http/paging.ts';
import { askDatabase, type Moment } from '../ask-database.ts';
import { runFacts } from '../events-store.ts';
import { type Actor, parseActor } from './actor.ts';
import type { ActorQuestion, Actors } from './actor-list.ts';

export interface FoundActor {
  readonly actor: Actor;
  /** What they did in numbers, where the list says so. */
  readonly value: number | null;
  /** By interval whether they were there: 1 or 0, where the list says so. */
  readonly appearances: readonly number[] | null;
}

export interface FoundActors {
  /** On all pages. */
  readonly total: number;
  /** Of this page. */
  readonly actors: readonly FoundActor[];
}

export interface ActorPage extends Page {
  /** Part of the e-mail address, the name or an id: only such persons. */
  readonly search?: string | undefined;
}

export interface ActorFinderOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Shared with insights: only a few questions are asked of the database at a time. */
  readonly runInTurn: Semaphore;
  /**
   * How long the database may work on one list.
   * @default 10000
   */
  readonly timeLimitMs?: number;
  /** For tests. */
  readonly sizes?: Moment['sizes'];
}

/** One page of the persons that a question is about. Throws InsightError. */
export type ActorFinder = (
  db: Db,
  projectId: number,
  question: ActorQuestion,
  page: ActorPage,
) => Promise<FoundActors>;

const TIME_LIMIT_MS = 10_000;

export function createActorFinder({
  now,
  runInTurn,
  timeLimitMs = TIME_LIMIT_MS,
  sizes = {},
}: ActorFinderOptions): ActorFinder {
  return (db, projectId, { dates, filter, interval, entities, breakdown, find }, page) =>
    runInTurn(() =>
      askDatabase<FoundActors>(
        db,
        {
          projectId,
          dates,
          interval,
          filter,
          entities,
          breakdown,
          answer: async (tx, steps, scope, range) =>
            toActors(await runFacts<PageRow>(tx, selectPage(await find(tx, steps, scope, range), page))),
        },
        { now: now(), timeLimitMs, sizes },
      ),
    );
}

interface PageRow {
  readonly total: number;
  /** Null: nobody is on this page. */
  readonly actor: string | null;
  readonly value: number | null;
  readonly appearances: readonly number[] | null;
}

function toActors(rows: readonly PageRow[]): FoundActors {
  const actors = rows.flatMap(({ actor, value, appearances }) =>
    actor === null ? [] : [{ actor: parseActor(actor), value, appearances }],
  );
  return { total: rows[0]?.total ?? 0, actors };
}

/**
 * Persons are in order of their ids, those without a person behind them. Only those of the page are numbered: to number
 * all of them they would all be sorted.
 */
function selectPage({ rows, order }: Actors, { limit, offset, search }: ActorPage): Sql {
  const sorted = sql`order by ${order === undefined ? sql`` : sql`${order},`} length(actor), actor collate "C"`;
  const wanted = search ? sql`where ${matchSearch(search)}` : sql``;
  return sql`with actors as materialized (select * from (${rows}) as listed ${wanted}),
      page as (
        select *, row_number() over (${sorted}) as place
        from (select * from actors ${sorted} limit ${limit}::bigint offset ${offset}::bigint) as listed)
    select total, actor, value, appearances
    from (select count(*) as total from actors) as counted left join page on true order by place`;
}

/** As the service does: in the e-mail address and the name, and in every id. */
function matchSearch(search: string): Sql {
  const has = (text: Sql) => sql`position(lower(${search}::text) in lower(${text})) > 0`;
  return sql`case when actor ~ '^[0-9]' then exists (
      select from persons p where p.id = actor::integer
        and (${has(sql`p.properties ->> 'email'`)} or ${has(sql`p.properties ->> 'name'`)}
          or exists (select from person_distinct_ids d where d.person_id = p.id and ${has(sql`d.distinct_id`)})))
    else ${has(sql`substr(actor, 2)`)} end`;
}
