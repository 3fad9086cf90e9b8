import { ConfigError, getMessage, SourceError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { loadControl } from '../../state/control.ts';
import { listMigrations } from '../../state/migrations.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { type ResolveLedger, removeMigration } from './remove-migration.ts';

const DAY_MS = 24 * 3_600_000;

export interface SweepOptions {
  /** Finished migrations are removed so many days after their end. */
  readonly afterDays: number;
  readonly resolveLedger: ResolveLedger;
  readonly log: Logger;
}

/** Removes migrations that finished long ago, as `backhaul rm` does. Returns their names. */
export async function sweepFinished(
  store: MigrationStore,
  { afterDays, resolveLedger, log }: SweepOptions,
): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await listMigrations(store.staging)) {
    try {
      const control = await loadControl(store.staging, name);
      if (control?.state !== 'finished') continue;
      if (store.now().getTime() - Date.parse(control.at) < afterDays * DAY_MS) continue;
      await removeMigration(store, name, { resolveLedger });
      removed.push(name);
    } catch (error) {
      // A damaged migration keeps no other from being removed.
      if (!(error instanceof ConfigError || error instanceof SourceError)) throw error;
      log.warn({ migration: name, err: getMessage(error) }, 'a finished migration is not removed yet');
    }
  }
  return removed;
}
