import type { Db, Queryable, SqlValue } from '../database/db.ts';
import { joinSql, runSql, type Sql, sql } from '../database/sql.ts';
import { AT_ONCE, type Steps } from './steps.ts';

/** Of events `e` with their id `d`: all events of an actor (`ACTOR`) are in one half. */
const HASH = sql`coalesce(hashint4(d.person_id), uuid_hash(e.person_id), hashtext(e.distinct_id))`;
const HALVES = [sql`${HASH} < 0`, sql`${HASH} >= 0`];

/**
 * Steps of a server: what is derived from the events of two halves of the actors is derived by two processes at once.
 * Both read all events, which takes an eighth to a fifth of CPU time more, and about three fifths of the time (two cores).
 */
export function inHalves(): Steps {
  const halves = new Map<Sql, readonly Sql[]>();
  return {
    areSeveral: false,
    findDoers: AT_ONCE.findDoers,
    async collect(scope, select) {
      const all = sql`(${select(scope)})`;
      halves.set(
        all,
        HALVES.map((place) => sql`(${select({ ...scope, place })})`),
      );
      return all;
    },
    async derive(sources, select, columns) {
      if (columns === undefined) return AT_ONCE.derive(sources, select);
      const derived = HALVES.map((_, half) => select((source) => halves.get(source)?.[half] ?? source));
      const parts = derived.map((statement) => runInWorker(statement, columns));
      return sql`(${joinSql(parts, ' union all ')})`;
    },
  };
}

/** Rows of a statement, with the names and types of its columns, that Postgres may have another process make. */
function runInWorker(statement: Sql, columns: Sql): Sql {
  const { texts, params } = statement.toParts();
  return sql`select * from run_in_worker(${texts}::text[], ${params.map(toText)}::text[]) as part (${columns})`;
}

/** As it is written between quotes: every parameter of a statement says its type. */
function toText(value: SqlValue): string | null {
  if (value === null) return null;
  if (typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) throw new Error('bytes are no parameter of a question');
  const quoted = value.map((each) => `"${String(each).replace(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join(',')}}`;
}

/** With fewer events a second process would not be worth its start. */
const LEAST_EVENTS = 100_000;

/** Whether a question is worth two processes of this database, and it has them. */
export async function hasWorkers(
  tx: Queryable,
  kind: Db['kind'],
  leastEvents: number = LEAST_EVENTS,
): Promise<boolean> {
  if (kind === 'pglite') return false;
  const [row] = await runSql<{ found: boolean }>(
    tx,
    sql`select reltuples >= ${leastEvents}::float8 and least(current_setting('max_parallel_workers')::integer,
        current_setting('max_parallel_workers_per_gather')::integer) > 0 as found
      from pg_class where oid = 'events'::regclass`,
  );
  return row?.found ?? false;
}
