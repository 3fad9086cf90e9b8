import type { Staging } from '../../contract/staging.ts';
import { layout, parseRecordKey } from '../../state/keys/migration.ts';
import { loadMigration } from '../../state/migrations.ts';
import { listReplays } from '../rejects/replayed.ts';

/**
 * Names of the replays of a migration that its removal leaves: those that were not removed, or with `forget` those of
 * which anything is kept. Empty for an unknown name. Throws SourceError for a record that is damaged.
 */
export async function findReplaysLeft(
  staging: Staging,
  name: string,
  { forget }: { readonly forget: boolean },
): Promise<string[]> {
  const isName = parseRecordKey(layout(name).record) !== undefined;
  const migration = isName ? await loadMigration(staging, name) : undefined;
  if (!migration) return [];
  const replays = await listReplays(staging, migration);
  return replays.filter(({ state }) => forget || state !== 'removed').map(({ record }) => record.name);
}
