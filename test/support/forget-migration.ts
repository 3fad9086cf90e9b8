import { cancelMigration } from '../../src/migrations/control.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { leaseKey } from '../../src/state/checkpoints.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import type { MigrationLab } from './migration-lab.ts';

/** `rm --forget` of a migration whose producer sleeps: its name is free again. */
export async function forgetMigration({ runtime, redis, env }: MigrationLab, name: string): Promise<void> {
  const removed = await loadMigration(runtime.staging, name);
  await redis.del(leaseKey(removed?.id ?? '')); // as it expires
  await cancelMigration(runtime, name, 'a wrong export');
  await removeMigration(runtime, name, {
    forget: true,
    resolveLedger: (manifest) => resolveLedger(manifest, { env, bundled: undefined }),
  });
}
