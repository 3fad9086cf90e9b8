import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';

/** An arbitrary constant that separates this lock from other advisory locks. */
const PROJECT_LOCK = 1_936_024_435;

/**
 * Locks a project's persons until the end of the transaction, so that its batches change persons one after
 * another: the order of arrival decides a person's properties, a merge may touch ids that no batch names,
 * and a single lock cannot deadlock. Every writer of persons takes it, and may then overwrite what it read.
 */
export async function lockProject(tx: Queryable, projectId: number): Promise<void> {
  await runSql(tx, sql`select pg_advisory_xact_lock(${PROJECT_LOCK}::integer, ${projectId}::integer)`);
}
