import type { Staging } from '../../../contract/staging.ts';
import {
  isForgotten,
  type LedgerAccess,
  listLedgersOf,
  loadSharedDevices,
} from '../../../state/ledger/ledger.ts';
import { listMigrations } from '../../../state/migrations.ts';
import { loadLastLedger } from '../facts-removed.ts';
import { loadDestination } from './ledger-destination.ts';
import { findSameProject } from './same-project.ts';

/** Ids of the ledgers by which it is decided what is merged in the project of a migration; those that know it come first. */
export async function listLedgersOfProject(staging: Staging, name: string): Promise<ReadonlySet<string>> {
  const ids = new Set(await listLedgersOf(staging, name));
  const { ledger: id, key } = (await loadLastLedger(staging, name)) ?? {};
  const destination = await loadDestination(staging, name);
  if (id === undefined || !destination) return ids;
  const { ties } = await findSameProject(staging, await listMigrations(staging), { id, key }, destination);
  for (const tie of ties)
    if ((await loadSharedDevices(staging, tie)) !== undefined && !(await isForgotten(staging, tie)))
      ids.add(tie);
  return ids;
}

/** The ledger of a migration by what its manifest says of the project, or by its key alone. */
export type ResolveOwnLedger = (by: 'project' | 'key') => LedgerAccess;

/**
 * How a ledger of the project of a migration is opened: without a key where it is of a name, else with that of the migration.
 * Undefined where it is of another key. Throws as `resolve` does.
 */
export async function findAccess(
  staging: Staging,
  id: string,
  resolve: ResolveOwnLedger,
): Promise<LedgerAccess | undefined> {
  for (const name of await listMigrations(staging)) {
    const { ledger, key } = (await loadLastLedger(staging, name)) ?? {};
    if (ledger === id && key !== undefined && key !== id) return { id, secret: '' };
  }
  const own = resolve('project');
  if (own.id === id) return own;
  return own.key === id ? resolve('key') : undefined;
}
