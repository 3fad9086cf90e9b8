import type { Db, Queryable } from '../database/db.ts';
import { type Sql, sql } from '../database/sql.ts';
import { invalidInput } from '../http/errors.ts';
import { inTime, isTooSlow, limitTime } from '../query/time-limit.ts';

/** How long a search of all persons of a project may take. */
const SEARCH_LIMIT_MS = 30_000;

/**
 * Searches many persons in a transaction that fails with a 400 when it takes too long. `guard` must be one of
 * the conditions on each person: the embedded database has no statement timeout.
 */
export async function searchInTime<T>(
  db: Db,
  search: (tx: Queryable, guard: Sql) => Promise<T>,
  limitMs: number = SEARCH_LIMIT_MS,
): Promise<T> {
  try {
    return await db.transaction(async (tx) => {
      await limitTime(tx, limitMs);
      return search(tx, db.kind === 'pglite' ? inTime(limitMs) : sql`true`);
    });
  } catch (error) {
    if (!isTooSlow(error)) throw error;
    throw invalidInput(`The search took more than ${limitMs / 1000} seconds. Ask for less at once.`);
  }
}
