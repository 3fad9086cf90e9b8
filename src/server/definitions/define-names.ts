import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import type { ProjectNames } from './defined-names.ts';

/** Events that the service writes about itself have no definition. */
const WITHOUT_DEFINITION = new Set(['$$plugin_metrics']);

/**
 * Makes sure that the names of these events are defined, and updates at most once a day when they were last
 * seen. Returns the names that were not `known`, to be remembered once the transaction is committed.
 */
export async function defineNames(
  tx: Queryable,
  projectId: number,
  events: readonly { readonly event: string }[],
  known?: ProjectNames,
): Promise<readonly string[]> {
  const names = [
    ...new Set(events.map(({ event }) => event).filter((name) => !WITHOUT_DEFINITION.has(name))),
  ];
  const missing = known?.findMissing(names) ?? names;
  if (missing.length > 0) await saveNames(tx, projectId, missing);
  return missing;
}

/** One statement that mostly only reads. The project's lock keeps two batches from inserting the same name. */
async function saveNames(tx: Queryable, projectId: number, names: readonly string[]): Promise<void> {
  await runSql(
    tx,
    sql`insert into event_definitions (project_id, name)
      select ${projectId}, seen.name from unnest(${names}::text[]) as seen (name)
      where not exists (
        select from event_definitions d where d.project_id = ${projectId} and d.name = seen.name
          and d.last_seen_at > clock_timestamp() - interval '1 day')
      on conflict (project_id, name) do update set last_seen_at = excluded.last_seen_at`,
  );
}
