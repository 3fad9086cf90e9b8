import type { Queryable } from '../database/db.ts';
import { getSqlState } from '../database/db.ts';
import { runSql, type Sql, sql } from '../database/sql.ts';

/**
 * A condition that holds for `milliseconds` from the beginning of the transaction, and then fails with
 * division_by_zero: PGlite has no clock that could end a statement. It is looked at once a row.
 */
export const inTime = (milliseconds: number): Sql =>
  sql`case when clock_timestamp() < now() + ${milliseconds}::integer * interval '1 millisecond' then true
    else 1 / (extract(epoch from clock_timestamp())::integer * 0) = 0 end`;

/** Ends a statement of this transaction that takes longer, where there is a server. */
export async function limitTime(tx: Queryable, milliseconds: number): Promise<void> {
  await runSql(tx, sql`select set_config('statement_timeout', ${String(milliseconds)}, true)`);
}

/** Cancelled by the server's clock, or by `inTime`. */
const TOO_SLOW: ReadonlySet<string> = new Set(['57014', '22012']);

export function isTooSlow(error: unknown): boolean {
  const state = getSqlState(error);
  return state !== undefined && TOO_SLOW.has(state);
}
