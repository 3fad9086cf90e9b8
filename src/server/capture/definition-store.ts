import type { Queryable } from '../database/db.ts';

/** What the service writes about itself defines no event. */
const WITHOUT_DEFINITION = new Set(['$$plugin_metrics']);

/** The names that these events define, once each. */
export const namesToDefine = (events: readonly { readonly event: string }[]): string[] => [
  ...new Set(events.map(({ event }) => event).filter((name) => !WITHOUT_DEFINITION.has(name))),
];

/**
 * Makes sure that these names are defined, and tells at most once a day that they were seen. One statement
 * that mostly only looks; the project's lock keeps two batches from meeting over a new name.
 */
export async function keepDefinitions(
  tx: Queryable,
  projectId: number,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await tx.query(
    `insert into event_definitions (project_id, name)
     select $1, seen.name from unnest($2::text[]) as seen (name)
     where not exists (
       select from event_definitions d where d.project_id = $1 and d.name = seen.name
         and d.last_seen_at > clock_timestamp() - interval '1 day')
     on conflict (project_id, name) do update set last_seen_at = excluded.last_seen_at`,
    [projectId, names],
  );
}
