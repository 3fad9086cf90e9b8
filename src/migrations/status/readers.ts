import { SourceError } from '../../lib/errors.ts';
import { listHalfImported } from '../../state/archive/imports.ts';
import { listMigrations } from '../../state/migrations.ts';
import { RefusedError } from '../life-store.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { createMigrationReader, type MigrationReader } from './status.ts';
import { type MigrationStatus, toDamagedStatus, toHalfImportedStatus } from './view.ts';

/** Of all migrations of a store: of each, only what is new is read again. */
export interface Readers {
  /** Throws RefusedError where there is no such migration. */
  get(name: string): Promise<MigrationReader>;
  /** One that is damaged is shown as such, and hides no other. */
  readAll(): Promise<MigrationStatus[]>;
}

export function createReaders(store: MigrationStore): Readers {
  const readers = new Map<string, Promise<MigrationReader>>();
  const get = (name: string): Promise<MigrationReader> => {
    const reader = readers.get(name) ?? createMigrationReader(store, name);
    readers.set(name, reader);
    reader.catch(() => readers.delete(name));
    return reader;
  };
  const readOne = async (name: string): Promise<MigrationStatus[]> => {
    try {
      return [await (await get(name)).readStatus()];
    } catch (error) {
      if (error instanceof RefusedError) return []; // forgotten since it was listed
      if (error instanceof SourceError) return [toDamagedStatus(name, error.message)];
      throw error;
    }
  };
  return {
    get,
    async readAll() {
      const names = await listMigrations(store.staging);
      for (const known of readers.keys()) if (!names.includes(known)) readers.delete(known);
      const half = await listHalfImported(store.staging);
      return [...(await Promise.all(names.map(readOne))).flat(), ...half.map(toHalfImportedStatus)];
    },
  };
}
