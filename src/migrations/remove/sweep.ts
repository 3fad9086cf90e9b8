import type { Environment } from '../../../config/environment.ts';
import { BackhaulError, getMessage } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { loadControl } from '../../state/control.ts';
import { listMigrations } from '../../state/migrations.ts';
import { isScheduled } from '../../state/schedules/schedules.ts';
import { CLOCKS_DIFFER_MS, measureClock } from '../clock-skew.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { type ResolveLedger, removeMigration } from './remove-migration.ts';

const DAY_MS = 24 * 3_600_000;

export interface SweepOptions {
  /** Finished migrations are removed so many days after their end. */
  readonly afterDays: number;
  readonly resolveLedger: ResolveLedger;
  /** See RemoveOptions. */
  readonly env?: Environment;
  readonly log: Logger;
}

/**
 * Removes migrations that finished long ago, as `backhaul rm` does. Returns their names. Removes none where the clock
 * of this process is not that of Redis: a wrong one would remove rejects that nobody can make again.
 */
export async function sweepFinished(
  store: MigrationStore,
  { afterDays, resolveLedger, env = {}, log }: SweepOptions,
): Promise<string[]> {
  const removed: string[] = [];
  const aheadMs = await measureClock(store);
  if (aheadMs !== undefined && Math.abs(aheadMs) > CLOCKS_DIFFER_MS) {
    log.warn(
      { aheadSeconds: Math.round(aheadMs / 1000) },
      'finished migrations are not removed, because the clocks of this machine and of Redis differ: set them right',
    );
    return removed;
  }
  for (const name of await listMigrations(store.staging)) {
    try {
      const control = await loadControl(store.staging, name);
      if (control?.state !== 'finished') continue;
      if (store.now().getTime() - Date.parse(control.at) < afterDays * DAY_MS) continue;
      if (await isScheduled(store.staging, name)) continue; // its next run would find nothing to continue
      await removeMigration(store, name, { resolveLedger, env });
      removed.push(name);
    } catch (error) {
      // A migration that is damaged, or that somebody resumes at this moment, keeps no other from being removed.
      const err = error instanceof BackhaulError ? getMessage(error) : error;
      log.warn({ migration: name, err }, 'a finished migration is not removed yet');
    }
  }
  return removed;
}
