import { ConfigError } from '../../lib/errors.ts';
import { mirrorControl } from '../../state/checkpoints.ts';
import { loadNewestControl } from '../../state/control.ts';
import { RefusedError, requireMigration } from '../life-store.ts';
import { explainRefusal } from '../lifecycle.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { restoreStates } from './restore.ts';
import { findTogether, listTies } from './together.ts';

/**
 * Undoes an export whose file was imported nowhere: the migration, and all that were exported with it, continue here.
 * Returns their names. Throws RefusedError where it was not moved, or where an import of it was begun.
 */
export async function takeBack(store: MigrationStore, name: string): Promise<string[]> {
  const { staging, now } = store;
  await requireMigration(staging, name);
  const all = findTogether(await listTies(staging), [name]);
  const names: string[] = [];
  for (const one of all) {
    const { control } = await loadNewestControl(staging, one.name);
    if (control?.state === 'moved') names.push(one.name);
    if (control?.state === 'importing')
      throw new RefusedError('importing', explainRefusal('importing', { ...control, name: one.name }));
  }
  if (!names.includes(name))
    throw new ConfigError(`migration "${name}" was not moved away; there is nothing to take back`);
  await restoreStates(staging, names, [...new Set(all.flatMap((one) => one.ledgers))], now());
  await mirrorStates(store, names);
  return names;
}

/** Workers learn of it now; one that hears nothing looks in staging. */
export async function mirrorStates(
  { staging, askRedis }: MigrationStore,
  names: readonly string[],
): Promise<void> {
  const mirror = askRedis(async (redis) => {
    for (const name of names) {
      const { id } = await requireMigration(staging, name);
      const { number, control } = await loadNewestControl(staging, name);
      if (control) await mirrorControl(redis, id, { state: control.state, number });
    }
  });
  await mirror.catch(() => {});
}
