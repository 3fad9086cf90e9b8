import type { Queryable } from '../database/db.ts';

/** Any constant: tells this lock from other users of advisory locks. */
const PROJECT_LOCK = 1_936_024_435;

/**
 * Batches of one project change people one after another, until the end of the transaction. The order of
 * arrival decides a person's properties, a merge may touch ids that no batch names, and a single lock
 * cannot deadlock. Whoever writes people takes it, and then may overwrite what it read.
 */
export async function lockProject(tx: Queryable, projectId: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1::integer, $2::integer)', [PROJECT_LOCK, projectId]);
}
