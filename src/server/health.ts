import { withTimeout } from '../lib/async/timeout.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { Queryable } from './database/db.ts';
import { runSql, sql } from './database/sql.ts';

/** Well below what those who ask wait for. */
const ANSWER_WITHIN_MS = 50;
/** A database that is busy for so long is not well. */
const BUSY_AT_MOST_MS = 60_000;

const BUSY = Symbol('busy');

/**
 * Whether the API is well, known within a twentieth of a second: the database is asked, and while it is busy with
 * other things, what it answered last counts. Throws what is wrong.
 */
export function createHealthCheck(
  db: Queryable,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let asking: { readonly sinceMs: number; readonly answer: Promise<void> } | undefined;
  let lastError: unknown;

  async function ask(): Promise<void> {
    try {
      await runSql(db, sql`select 1`);
      lastError = undefined;
    } catch (error) {
      lastError = error;
    } finally {
      asking = undefined;
    }
  }

  return async () => {
    asking ??= { sinceMs: now(), answer: ask() };
    const { sinceMs, answer } = asking;
    await withTimeout(answer, ANSWER_WITHIN_MS, () => BUSY).catch((reason: unknown) => {
      if (reason !== BUSY) throw reason;
      if (now() - sinceMs > BUSY_AT_MOST_MS) {
        throw new UnavailableError(`The database has not answered for ${BUSY_AT_MOST_MS / 1000} seconds.`);
      }
    });
    if (lastError !== undefined) throw lastError;
  };
}
