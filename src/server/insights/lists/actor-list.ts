import type { Queryable } from '../../database/db.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { JsonObject } from '../../http/json.ts';
import type { DateRange } from '../../query/date-range.ts';
import type { AskedInterval } from '../../query/interval.ts';
import type { BreakdownBy, Entity } from '../entity.ts';
import type { EventScope } from '../events-store.ts';
import type { CommonQuery } from '../insight-kind.ts';
import type { Steps } from '../steps.ts';

/**
 * A kind of list: the persons behind the numbers of one kind of insight. They are derived from the facts that the numbers are
 * counted from, so that a number of persons and the length of its list are the same.
 */
export interface ActorList {
  /** Below `persons/`. */
  readonly path: string;
  readonly methods: readonly ('get' | 'post')[];
  readonly summary: string;
  readonly shows: 'actors' | 'appearances';
  /**
   * How the parameters of a page are called.
   * @default limit and offset
   */
  readonly pageNames?: { readonly limit: string; readonly offset: string };
  /** Parameters besides those of every list, with what they are. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Reads the parameters, named as in the filters of the insight. Throws InsightError. */
  readonly parse: (filters: JsonObject) => ActorQuestion;
}

export interface ActorQuestion extends CommonQuery {
  /** The interval that the date range is rounded to. */
  readonly interval: AskedInterval;
  /** Every entity whose filter is used. */
  readonly entities: readonly Entity[];
  readonly breakdown?: BreakdownBy | undefined;
  readonly find: (tx: Queryable, steps: Steps, scope: EventScope, range: DateRange) => Promise<Actors>;
}

export interface Actors {
  /** A row a person: `actor`; `value`, a float8 or null; `appearances`, an integer[] or null. */
  readonly rows: Sql;
  /** What they are ordered by, ahead of the actor. */
  readonly order?: Sql;
}

/** A list that says only who they are: the `actor` of rows. */
export const listActors = (rows: Sql): Actors => ({
  rows: sql`select actor, null::float8 as value, null::integer[] as appearances from ${rows} as listed`,
});

/** The list of a range without intervals. */
export const NOBODY: Actors = listActors(sql`(select ''::text as actor limit 0)`);
