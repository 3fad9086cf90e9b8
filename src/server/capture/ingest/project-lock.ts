import { PROJECT_COLUMNS, type Project } from '../../auth/projects.ts';
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

/**
 * Keeps the planner from reading whole tables until the end of the transaction: prepared statements are planned
 * once, maybe while the tables are still small, and are used when they are large.
 */
const FOR_PREPARED = sql`set_config('enable_seqscan', 'off', true) as seqscan, set_config('jit', 'off', true) as jit`;

/** As `lockProject`, for a transaction whose statements are prepared. */
export async function lockProjectForPrepared(tx: Queryable, projectId: number): Promise<void> {
  await runSql(
    tx,
    sql`select pg_advisory_xact_lock(${PROJECT_LOCK}::integer, ${projectId}::integer), ${FOR_PREPARED}`,
  );
}

/**
 * Looks up the project with a key and locks it, in one statement, for a transaction whose statements are prepared.
 * What the transaction reads from the next statement on is read under the lock.
 */
export async function lockProjectByKey(tx: Queryable, projectKey: string): Promise<Project | undefined> {
  const [row] = await runSql<Project>(
    tx,
    sql`select ${PROJECT_COLUMNS}, pg_advisory_xact_lock(${PROJECT_LOCK}::integer, id)::text as locked, ${FOR_PREPARED}
      from projects where api_token = ${projectKey}`,
    { sendWith: 'begin' },
  );
  return row;
}
