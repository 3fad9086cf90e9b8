import type { Db, Queryable } from '../database/db.ts';
import { type Sql, sql } from '../database/sql.ts';
import { invalidInput } from '../http/errors.ts';
import { inTime, isTooSlow, limitTime } from '../query/time-limit.ts';

/** How long a look at all persons of a project may take. */
export const SEARCH_LIMIT_MS = 30_000;

/**
 * Looks at many persons in a transaction that ends with a refusal when it takes too long. `guard` must be
 * among the conditions on each person: the embedded database has no clock of its own.
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
