import { ConfigError } from '../../lib/errors.ts';
import { loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import type { MigrationRuntime } from '../migration-runtime.ts';
import { findManifestDifferences } from '../prepare/compare-manifest.ts';
import type { ReplayInput } from './replay.ts';
import { listReplays } from './replayed.ts';

/**
 * The replay of a migration that began and did not end, for example because its process was killed: another one would
 * send, and count, its records again. Throws ConfigError where what is asked for now is not what was begun.
 */
export async function findBegunReplay(
  runtime: MigrationRuntime,
  migration: MigrationRecord,
  { loaded: { manifest }, reason }: Pick<ReplayInput, 'loaded' | 'reason'>,
): Promise<string | undefined> {
  const others: string[] = [];
  for (const { record, state } of await listReplays(runtime.staging, migration)) {
    if (state === 'finished' || state === 'cancelled' || state === 'removed') continue;
    // Version 0.1.0 did not say for which reason.
    const isSame = record.replaysReason === reason;
    if (isSame && (await findManifestDifferences(runtime, record, manifest)).length === 0) return record.name;
    others.push(record.name);
  }
  const [begun] = others;
  if (begun === undefined) return undefined;
  throw new ConfigError(
    `migration "${begun}" replays rejects of "${migration.name}" and has not finished, and it was begun with another manifest or --reason. Finish it first with "backhaul resume ${begun}", or give it up with "backhaul cancel ${begun}"; then replay again`,
  );
}

/**
 * Throws ConfigError for a cancelled replay whose records another one has sent since: they would be in the books of
 * both.
 */
export async function assertNotTakenOver(
  { staging }: Pick<MigrationRuntime, 'staging'>,
  { name, replays, replaysId }: MigrationRecord,
): Promise<void> {
  const of = replays === undefined ? undefined : await loadMigration(staging, replays);
  if (!of || (replaysId ?? of.id) !== of.id) return;
  const later = (await listReplays(staging, of)).find(({ record }) => record.takesOver?.includes(name));
  if (!later) return;
  throw new ConfigError(
    `migration "${name}" was cancelled, and "${later.record.name}" took over what it had left: continue that one with "backhaul resume ${later.record.name}", or replay what is left with "backhaul rejects replay ${of.name}"; "backhaul rm ${name}" removes this one`,
  );
}
