import type { Db, Queryable } from '../database/db.ts';
import { type Sql, sql } from '../database/sql.ts';
import { invalidInput } from '../http/errors.ts';
import { inTime, isTooSlow, limitTime } from '../query/time-limit.ts';

/** How long a search of all persons of a project may take. */
export const SEARCH_LIMIT_MS = 30_000;
/** The same in one statement on the embedded database, where others wait for it. */
const EMBEDDED_LIMIT_MS = 5000;

/**
 * Searches many persons in a transaction that fails with a 400 when it takes too long. `guard` must be one of
 * the conditions on each person: the embedded database has no statement timeout.
 */
export async function searchInTime<T>(
  db: Db,
  search: (tx: Queryable, guard: Sql) => Promise<T>,
  limitMs: number = db.kind === 'pglite' ? EMBEDDED_LIMIT_MS : SEARCH_LIMIT_MS,
): Promise<T> {
  try {
    return await db.transaction(async (tx) => {
      await limitTime(tx, limitMs);
      return search(tx, db.kind === 'pglite' ? inTime(limitMs) : sql`true`);
    }, 'question');
  } catch (error) {
    throw explainTooSlow(error, limitMs);
  }
}

/** A search that took too long is the caller's to make smaller; any other error is returned as it is. */
export const explainTooSlow = (error: unknown, limitMs: number): unknown =>
  isTooSlow(error)
    ? invalidInput(`The search took more than ${limitMs / 1000} seconds. Ask for less at once.`)
    : error;
