import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { parseReject } from '../../pipeline/stage/stage-rejects.ts';
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
  const { first, before } = await loadFirst(staging, migration);
  const added = unheeded.filter((path) => !isDeepStrictEqual(getAt(source, path), getAt(before, path)));
  if (added.length === 0) return;
  const keys = added.map((path) => `source.${path}`).join(', ');
  throw new ConfigError(
    `migration "${first}" was begun with mapping ${mapping}, which does not heed ${keys}, and a replay keeps it: nothing was sent. Correct the manifest of the replay without ${added.length === 1 ? 'this key' : 'these keys'}; or write the rejected records to a file ("backhaul rejects show ${name}" prints them), and import that under a name of its own`,
  );
}

/** What decides which fields version 2 of a declared mapping leaves out. */
const EXCLUDING = ['mapping.exclude', 'mapping.jsonColumns', 'mapping.spreadColumns'];

/**
 * Creates what throws ConfigError for a reject of which that version of the mapping would send what the manifest of the
 * replay leaves out, and that of the migration did not.
 */
export async function createAssertLeftOut(
  staging: Staging,
  migration: MigrationRecord,
  { source }: Manifest,
): Promise<(line: RejectLine) => void> {
  const { mapping } = migration;
  const version = readPinnedVersion(mapping, source.type);
  const findSent = version === undefined ? undefined : bindSource(source).toFindSent?.(version);
  if (!findSent) return () => {};
  const { first, before } = await loadFirst(staging, migration);
  if (EXCLUDING.every((path) => isDeepStrictEqual(getAt(source, path), getAt(before, path)))) return () => {};
  return (line) => {
    const record = parseReject(line);
    const path = record.kind === 'object' ? findSent(record.value) : undefined;
    if (path === undefined) return;
    throw new ConfigError(
      `migration "${first}" was begun with mapping ${mapping}, which does not look for what source.mapping.exclude names in the text of ${path}, and a replay keeps it: nothing was sent. Exclude ${path} itself in the manifest of the replay; or name it in jsonColumns, where it is a column`,
    );
  };
}

async function loadFirst(staging: Staging, migration: MigrationRecord) {
  let first = migration.name;
  for await (const ancestor of listAncestors(staging, migration)) first = ancestor.name;
  return { first, before: (await loadStoredManifest(staging, first)).manifest.source };
}

const getAt = (source: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], source);
