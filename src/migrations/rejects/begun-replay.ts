import { ConfigError } from '../../lib/errors.ts';
import { areStagedRejects } from '../../pipeline/stage/stage-rejects.ts';
import { loadControl } from '../../state/control.ts';
import { listMigrations, loadMigration } from '../../state/migrations.ts';
import { findManifestDifferences } from '../compare-manifest.ts';
import { isReplayNameOf } from '../derived-name.ts';
import type { MigrationRuntime } from '../migration-runtime.ts';
import type { ReplayInput } from './replay.ts';

/**
 * The replay of a migration that began and did not end, for example because its process was killed: another one would
 * send, and count, its records again. Throws ConfigError where what is asked for now is not what was begun.
 */
export async function findBegunReplay(
  runtime: MigrationRuntime,
  name: string,
  { loaded: { manifest }, reason }: ReplayInput,
): Promise<string | undefined> {
  const others: string[] = [];
  for (const each of await listMigrations(runtime.staging)) {
    if (!isReplayNameOf(each, name)) continue;
    const record = await loadMigration(runtime.staging, each);
    if (!record || !areStagedRejects(record.files)) continue;
    // Version 0.1.0 did not say of which migration, nor for which reason.
    if ((record.replays ?? name) !== name) continue;
    const state = (await loadControl(runtime.staging, each))?.state;
    if (state === 'finished' || state === 'cancelled' || state === 'removed') continue;
    const isSame = record.replaysReason === reason;
    if (isSame && (await findManifestDifferences(runtime, record, manifest)).length === 0) return each;
    others.push(each);
  }
  const [begun] = others;
  if (begun === undefined) return undefined;
  throw new ConfigError(
    `migration "${begun}" replays rejects of "${name}" and has not finished, and it was begun with another manifest or --reason. Finish it first with "backhaul resume ${begun}", or give it up with "backhaul cancel ${begun}"; then replay again`,
  );
}
