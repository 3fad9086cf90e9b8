import { setTimeout as wait } from 'node:timers/promises';
import { listMigrations } from '../../state/migrations.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { createReaders } from './readers.ts';
import { createMigrationReader } from './status.ts';
import type { MigrationStatus, MigrationView } from './view.ts';

const WATCH_EVERY_MS = 2_000;

/**
 * The status of one migration, or of all: from staging, and from Redis whether a producer holds the lease.
 * Throws RefusedError for a name that does not exist.
 */
export async function loadStatus(store: MigrationStore, name?: string): Promise<MigrationStatus[]> {
  return (await createStatusReader(store, name))();
}

/** In order. */
export const listNames = ({ staging }: MigrationStore): Promise<string[]> => listMigrations(staging);

/** Everything about one migration. Throws as loadStatus does. */
export const loadView = async (store: MigrationStore, name: string): Promise<MigrationView> =>
  (await createMigrationReader(store, name)).readView();

/** Calls `onStatus` every two seconds, until none of them runs or the signal is aborted. */
export async function watchStatus(
  store: MigrationStore,
  name: string | undefined,
  { signal, onStatus }: { signal: AbortSignal; onStatus: (all: MigrationStatus[]) => void },
): Promise<void> {
  const read = await createStatusReader(store, name);
  while (!signal.aborted) {
    const all = await read();
    onStatus(all);
    if (all.every(({ state }) => state !== 'running' && state !== 'unknown')) return;
    await wait(WATCH_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function createStatusReader(
  store: MigrationStore,
  name: string | undefined,
): Promise<() => Promise<MigrationStatus[]>> {
  if (name === undefined) return createReaders(store).readAll;
  const { readStatus } = await createMigrationReader(store, name);
  return async () => [await readStatus()];
}
