import type { Staging } from '../../../contract/staging.ts';
import { loadLatestEpoch } from '../../../state/epochs.ts';
import {
  isForgotten,
  type LedgerAccess,
  listLedgersOf,
  loadSharedDevices,
  type SharedDevices,
} from '../../../state/ledger/ledger.ts';
import { listMigrations } from '../../../state/migrations.ts';
import { areFactsRemoved, loadLastLedger } from '../facts-removed.ts';
import { readSharedDevices } from '../take-in.ts';
import { loadDestination } from './ledger-destination.ts';
import { findSameProject, type SameProject } from './same-project.ts';

/** Ids of the ledgers by which it is decided what is merged in the project of a migration; those that know it come first. */
export async function listLedgersOfProject(staging: Staging, name: string): Promise<ReadonlySet<string>> {
  const ids = new Set(await listLedgersOf(staging, name));
  for (const tie of (await findProject(staging, name))?.ties ?? [])
    if ((await loadSharedDevices(staging, tie)) !== undefined && !(await isForgotten(staging, tie)))
      ids.add(tie);
  return ids;
}

/**
 * Ids of the ledgers that migrations of the project have not made yet, which send persons or may be topped up, with what
 * their manifests say about shared devices.
 */
export async function listLedgersToBe(
  staging: Staging,
  name: string,
): Promise<ReadonlyMap<string, SharedDevices>> {
  const found = new Map<string, SharedDevices>();
  for (const other of (await findProject(staging, name))?.names ?? []) {
    const epoch = await loadLatestEpoch(staging, other);
    if (epoch?.ledger === undefined || (await areFactsRemoved(staging, other))) continue;
    const { ledger } = epoch;
    if ((await loadSharedDevices(staging, ledger)) !== undefined || (await isForgotten(staging, ledger)))
      continue;
    found.set(ledger, readSharedDevices(epoch.manifest));
  }
  return found;
}

async function findProject(staging: Staging, name: string): Promise<SameProject | undefined> {
  const { ledger: id, key } = (await loadLastLedger(staging, name)) ?? {};
  const destination = await loadDestination(staging, name);
  if (id === undefined || !destination) return undefined;
  return findSameProject(staging, await listMigrations(staging), { id, key }, destination);
}

/** The ledger of a migration by what its manifest says of the project, or by its key alone. */
export type ResolveOwnLedger<T = LedgerAccess> = (by: 'project' | 'key') => T;

/**
 * How a ledger of the project of a migration is opened: without a key where it is of a name, else with that of the migration.
 * Undefined where it is of another key. Throws as `resolve` does.
 */
export async function findAccess(
  staging: Staging,
  id: string,
  resolve: ResolveOwnLedger<LedgerAccess | undefined>,
): Promise<LedgerAccess | undefined> {
  for (const name of await listMigrations(staging)) {
    const { ledger, key } = (await loadLastLedger(staging, name)) ?? {};
    if (ledger === id && key !== undefined && key !== id) return { id, secret: '' };
  }
  const own = resolve('project');
  if (own?.id === id) return own;
  return own?.key === id ? resolve('key') : undefined;
}
