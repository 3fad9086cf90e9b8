import { randomUUID } from 'node:crypto';
import { manifestIdentity } from '../../../config/manifest/manifest-identity.ts';
import type { Staging } from '../../contract/staging.ts';
import { toLatest } from '../../deliver/not-stored.ts';
import { ConfigError } from '../../lib/errors.ts';
import { getMappingName } from '../../sources/registry.ts';
import type { SourceSlice } from '../../sources/source.ts';
import { isNamedNote, layout } from '../../state/keys/migration.ts';
import {
  addTopUp,
  createMigration,
  loadMigration,
  type MigrationRecord,
  withLatest,
} from '../../state/migrations.ts';
import type { ManifestAt } from '../manifest/stored-manifest.ts';
import type { MigrationStore } from '../migration-runtime.ts';

/** Parts and receipts that belong to no migration must not become those of this one. */
export async function assertNothingLeft(staging: Staging, name: string): Promise<void> {
  const { prefix, record } = layout(name);
  for await (const { key } of staging.list(prefix)) {
    if (isNamedNote(key)) continue;
    if (await loadMigration(staging, name)) throw new StartedMeanwhileError(name);
    throw new ConfigError(
      `${staging.location} holds ${key}, but no migration "${name}" (${record} is missing): it may belong to one whose record was removed. ` +
        `Put the record back to continue that one; or remove the folder ${prefix} and run again, or give the manifest another name (nothing is delivered twice)`,
    );
  }
}

export async function createRecord(
  { staging, now }: Pick<MigrationStore, 'staging' | 'now'>,
  opening: ManifestAt,
  files: MigrationRecord['files'],
  mapping = getMappingName(opening.manifest.source.type),
  derived: Pick<
    MigrationRecord,
    'releases' | 'replays' | 'replaysId' | 'replaysReason' | 'takesOver' | 'stampedAs' | 'pins' | 'partsById'
  > = {},
): Promise<MigrationRecord> {
  const { manifest } = opening;
  const { identity, sha256 } = manifestIdentity(manifest);
  const begun = now();
  const record: MigrationRecord = {
    id: randomUUID(),
    name: manifest.name,
    identity,
    identitySha256: sha256,
    mapping,
    destination: manifest.destination?.url ?? 'bundled API',
    files: [...files],
    latest: toLatest(begun),
    createdAt: begun.toISOString(),
    ...derived,
    opening: { manifest, baseDir: opening.baseDir },
  };
  if (await createMigration(staging, record)) return record;
  throw new StartedMeanwhileError(manifest.name);
}

/** Another process has created the migration since this one looked. */
export class StartedMeanwhileError extends ConfigError {
  constructor(name: string) {
    super(`migration "${name}" was started by another process this very moment; run the command again`);
  }
}

/** The migration with the files of a top-up; they stay its own, whatever becomes of this run. */
export async function addFiles(
  { staging, now }: Pick<MigrationStore, 'staging' | 'now'>,
  record: MigrationRecord,
  files: MigrationRecord['files'],
): Promise<MigrationRecord> {
  if (files.length === 0) return record;
  const at = now();
  const added = { at: at.toISOString(), files, latest: toLatest(at) };
  await addTopUp(staging, record, added);
  return { ...record, files: [...record.files, ...withLatest(added)] };
}

/** Of a slice that was found: what the record keeps. */
export const toFile = ({
  fileId,
  name,
  bytes,
  modified,
  slice,
}: SourceSlice & { slice?: string | undefined }) => ({
  fileId,
  name,
  bytes,
  modified,
  ...(slice === undefined ? {} : { slice }),
});
