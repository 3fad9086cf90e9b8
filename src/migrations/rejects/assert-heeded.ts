import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { bindSource, readPinnedVersion } from '../../sources/registry.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { loadStoredManifest } from '../manifest/stored-manifest.ts';
import { listAncestors } from './family.ts';

/**
 * A replay maps as its migration did. Throws ConfigError where its manifest sets what that version of the mapping does
 * not heed, such as columns to hash: they would arrive as they are, and nothing would say so. What the migration was
 * begun with it may keep.
 */
export async function assertHeeded(
  staging: Staging,
  migration: MigrationRecord,
  { source }: Manifest,
): Promise<void> {
  const { name, mapping } = migration;
  const version = readPinnedVersion(mapping, source.type);
  const unheeded = version === undefined ? [] : (bindSource(source).listUnheeded?.(version) ?? []);
  if (unheeded.length === 0) return;
  let first = name;
  for await (const ancestor of listAncestors(staging, migration)) first = ancestor.name;
  const before = (await loadStoredManifest(staging, first)).manifest.source;
  const added = unheeded.filter((path) => !isDeepStrictEqual(getAt(source, path), getAt(before, path)));
  if (added.length === 0) return;
  const keys = added.map((path) => `source.${path}`).join(', ');
  throw new ConfigError(
    `migration "${first}" was begun with mapping ${mapping}, which does not heed ${keys}, and a replay keeps it: nothing was sent. Correct the manifest of the replay without ${added.length === 1 ? 'this key' : 'these keys'}; or write the rejected records to a file ("backhaul rejects show ${name}" prints them), and import that under a name of its own`,
  );
}

const getAt = (source: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], source);
