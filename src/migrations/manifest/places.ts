import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { type FindPlace, openPlaces } from '../../lib/places.ts';
import { DESTINATION } from '../../sources/common-options.ts';
import { AGENT_PARSER } from '../../sources/mapping/web/agent.ts';
import { toPlacesKey } from '../../state/keys/shared.ts';
import type { MappingPins, MigrationRecord } from '../../state/migrations.ts';

const SETTING = 'source.geoip';

/** The file of places that a manifest names. */
interface PlacesFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Undefined where the manifest names none. Throws ConfigError for one that cannot be read. */
async function readPlacesFile({ source }: Manifest, baseDir: string): Promise<PlacesFile | undefined> {
  if (source.geoip === undefined || source.geoip === DESTINATION) return undefined;
  const path = resolve(baseDir, source.geoip);
  try {
    return { path, bytes: await readFile(path) };
  } catch (cause) {
    throw new ConfigError(`${SETTING}: ${path} cannot be read: ${getMessage(cause)}`, cause);
  }
}

/** For whoever only looks at events: from the file as it is now. */
export async function openManifestPlaces(
  manifest: Manifest,
  baseDir: string,
): Promise<FindPlace | undefined> {
  const file = await readPlacesFile(manifest, baseDir);
  return file && openPlaces(file.bytes, SETTING, file.path);
}

/**
 * Pins what beside the map decides the events of a migration that begins: the parser of user agents, and the file
 * of places. The file is copied to staging under its hash, where every worker finds the same one, whatever becomes
 * of the original.
 */
export async function pinMapping(
  staging: Staging,
  manifest: Manifest,
  baseDir: string,
): Promise<MappingPins> {
  const file = await readPlacesFile(manifest, baseDir);
  if (!file) return { agentParser: AGENT_PARSER };
  openPlaces(file.bytes, SETTING, file.path);
  const places = hash(file.bytes);
  await staging.create(toPlacesKey(places), file.bytes);
  return { agentParser: AGENT_PARSER, places };
}

/** What of a migration's pins this release does not have. */
export function findPinDifference({ pins }: Pick<MigrationRecord, 'pins'>): string | undefined {
  const pinned = pins?.agentParser;
  return pinned === undefined || pinned === AGENT_PARSER
    ? undefined
    : `user agents were parsed by ${pinned}, this version has ${AGENT_PARSER}`;
}

/** Throws ConfigError where this process would make other events of the same records (I2). */
export async function openPinnedPlaces(
  staging: Staging,
  record: MigrationRecord,
): Promise<FindPlace | undefined> {
  const difference = findPinDifference(record);
  if (difference !== undefined)
    throw new ConfigError(`${difference}; start workers of the release that began the migration`);
  const places = record.pins?.places;
  if (places === undefined) return undefined;
  const key = toPlacesKey(places);
  const bytes = await staging.get(key);
  if (bytes && hash(bytes) === places) return openPlaces(bytes, SETTING, key);
  throw new ConfigError(
    `${staging.location} ${bytes ? 'holds another file of places under' : 'lacks the file of places'} ${key}, by which events of this migration were made: copy the file that source.geoip named when it began (its SHA-256 is the name) there, and resume`,
  );
}

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
