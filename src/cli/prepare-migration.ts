import { randomUUID } from 'node:crypto';
import { parseStoredManifest } from '../../config/load-manifest.ts';
import { type Manifest, readOptionsOf, tooManyRejects } from '../../config/manifest.ts';
import { describeDifference, manifestIdentity } from '../../config/manifest-identity.ts';
import type { Settings } from '../../config/settings.ts';
import type { FileReceipt } from '../contract/part.ts';
import type { RecordCounts } from '../contract/progress.ts';
import { ConfigError } from '../errors.ts';
import { mappingName } from '../map/sources.ts';
import { checkSources } from '../migration/check-sources.ts';
import { layout } from '../migration/layout.ts';
import { createMigration, latestEpoch, loadMigration, type MigrationRecord } from '../migration/migration.ts';
import { findSourceFiles } from '../source/find-source-files.ts';
import type { SourceFile } from '../source/source-file.ts';
import { listFileReceipts } from '../stage/load-part.ts';
import { sourceSha256 } from '../stage/source-hash.ts';
import { openSourceBucket, openStaging, type Site } from '../wire.ts';
import { preflight } from './preflight.ts';

/** A manifest, and the folder its relative paths start from. */
export interface ManifestAt {
  readonly manifest: Manifest;
  readonly baseDir: string;
}

/** A migration that exists in staging and whose sources were checked: ready to be driven. */
export interface Prepared {
  readonly record: MigrationRecord;
  readonly manifest: Manifest;
  readonly baseDir: string;
  readonly files: readonly SourceFile[];
  tooManyRejects(counts: RecordCounts): boolean;
}

/**
 * Finds the source, and creates the migration or recognises it. One that exists continues only while
 * manifest and sources are what they were; else it says what differs and what the choices are.
 */
export async function prepareMigration(site: Site, { manifest, baseDir }: ManifestAt): Promise<Prepared> {
  const { staging, settings } = site;
  const { name } = manifest;
  const known = await loadMigration(staging, name);

  const staged = new Map<string, FileReceipt>();
  for await (const receipt of listFileReceipts(staging, layout(name).prefix))
    staged.set(receipt.fileId, receipt);
  const complete = known?.files.every(({ fileId }) => staged.has(fileId)) ?? false;
  const files = await findFiles(manifest, baseDir, settings).catch((error: unknown) => {
    if (complete) return []; // all of it is staged: nobody needs the source any more
    throw error;
  });

  if (known) {
    const differences = [
      ...describeDifference(known.identity, manifestIdentity(manifest).identity),
      ...(known.mapping === mappingName(manifest.source.type)
        ? []
        : [`the mapping was ${known.mapping}, this version maps with ${mappingName(manifest.source.type)}`]),
      ...(complete && files.length === 0
        ? []
        : await checkSources(known.files, files, staged, (file) =>
            sourceSha256(file, readOptionsOf(manifest.source)),
          )),
    ];
    if (differences.length > 0) throw changed(name, differences, staging.location);
  } else {
    await preflight(manifest, files);
  }

  const record = known ?? (await createRecord(site, manifest, files));
  return {
    record,
    manifest,
    baseDir,
    files,
    tooManyRejects: (counts) => tooManyRejects(manifest.rejects.failAbove, counts),
  };
}

export function findFiles(manifest: Manifest, baseDir: string, settings: Settings): Promise<SourceFile[]> {
  return findSourceFiles(manifest.source.from, {
    baseDir,
    openS3: (bucket) => openSourceBucket(settings, bucket),
  });
}

async function createRecord(
  { staging }: Site,
  manifest: Manifest,
  files: readonly SourceFile[],
): Promise<MigrationRecord> {
  const { identity, sha256 } = manifestIdentity(manifest);
  const record: MigrationRecord = {
    id: randomUUID(),
    name: manifest.name,
    identity,
    identitySha256: sha256,
    mapping: mappingName(manifest.source.type),
    destination: manifest.destination?.url ?? 'bundled API',
    files: files.map(({ fileId, name, bytes, modified }) => ({ fileId, name, bytes, modified })),
    createdAt: new Date().toISOString(),
  };
  if (await createMigration(staging, record)) return record;
  throw new ConfigError(
    `migration "${manifest.name}" was started by another process this very moment; run the command again`,
  );
}

function changed(name: string, differences: readonly string[], where: string): ConfigError {
  return new ConfigError(
    [
      `Migration "${name}" exists in ${where}, and is not the same:`,
      ...differences.map((line) => `  - ${line}`),
      'Choices: put back what it was and run again; or give the manifest a new name, which imports everything',
      'under that name (events that are already there are dropped by their uuid and cost nothing).',
    ].join('\n'),
  );
}

/** The manifest of the last epoch, for `resume` by name: limits changed since then need `run`. */
export async function manifestOfMigration(settings: Settings, name: string): Promise<ManifestAt> {
  const staging = openStaging(settings);
  const opening = await latestEpoch(staging, name);
  if (!opening) {
    throw new ConfigError(
      `there is no migration "${name}" in ${staging.location}; "backhaul status" lists them`,
    );
  }
  return { manifest: parseStoredManifest(opening.manifest, staging.location), baseDir: opening.baseDir };
}
