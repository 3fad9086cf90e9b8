import type { Environment } from '../../../config/environment.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { IdFrom } from '../../sources/mapping/event-id.ts';
import { listMappingNames, readPinnedVersion } from '../../sources/registry.ts';
import type { ImportMap } from '../../sources/source.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { createManifestMap } from './create-maps.ts';
import { openHashKey } from './hash-key.ts';
import { openPinnedPlaces } from './places.ts';

/** By `idFrom` of the description of a part; those without have `vendor`. */
export type ImportMaps = Readonly<Record<IdFrom, ImportMap>>;

/**
 * The maps of a migration that exists, by what it is pinned to. Throws ConfigError where this process would make other
 * events of the same records (I2).
 */
export async function openMaps(
  staging: Staging,
  record: MigrationRecord,
  manifest: Manifest,
  env: Environment,
): Promise<ImportMaps> {
  const version = getPinnedVersion(record.mapping, manifest.source.type);
  const findPlace = await openPinnedPlaces(staging, record);
  const hashKey = await openHashKey(staging, record, manifest, env);
  return {
    vendor: createManifestMap(manifest, { version, findPlace, hashKey }),
    record: createManifestMap(manifest, { version, findPlace, hashKey, idFrom: 'record' }),
  };
}

function getPinnedVersion(pinned: string, type: string): number {
  const version = readPinnedVersion(pinned, type);
  if (version !== undefined) return version;
  throw new ConfigError(
    `the migration is pinned to mapping ${pinned}, this worker has ${listMappingNames(type)}; start workers of the release that began it`,
  );
}
