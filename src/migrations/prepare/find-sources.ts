import { listStagedFiles, type StagedFile } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import { areStagedRejects } from '../../pipeline/stage/stage-rejects.ts';
import { bindSource } from '../../sources/registry.ts';
import { type SourceContext, type SourceSlice, toSourceSlice } from '../../sources/source.ts';
import { partKeys, toPartsPrefix } from '../../state/keys/parts.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listFileReceipts } from '../../state/parts.ts';
import type { ManifestAt } from '../manifest/stored-manifest.ts';
import type { SourceAccess } from '../migration-runtime.ts';

export type FindFiles = (allowed?: Pick<SourceContext, 'allowEmpty' | 'wasThere'>) => Promise<SourceSlice[]>;

interface Finding {
  readonly find: FindFiles;
  readonly isForNew: boolean;
  readonly allowEmpty: boolean;
}

/**
 * The source as it is now; undefined where all of it is staged and it cannot be found any more. Whoever looks for
 * what is new is not told that nothing is. Files that are gone are none of what keeps others from being found; where
 * nothing is left, and nothing is staged, it is the source that is in the wrong place.
 */
export async function findCurrentSources(
  known: MigrationRecord,
  staging: Staging,
  { find, isForNew, allowEmpty }: Finding,
): Promise<SourceSlice[] | undefined> {
  if (areStagedRejects(known.files) || known.releases) return undefined;
  const names = new Set(known.files.map(({ name }) => name));
  try {
    const found = await find({ allowEmpty: true, wasThere: (name) => names.has(name) });
    if (found.length > 0 || allowEmpty) return found;
    return isForNew || !(await hasParts(staging, known)) ? await find() : found;
  } catch (error) {
    if (isForNew) throw error;
    const staged = await loadStagedFiles(staging, known);
    if (known.files.every(({ fileId }) => staged.has(fileId))) return undefined;
    throw error;
  }
}

async function hasParts(staging: Staging, record: Parameters<typeof toPartsPrefix>[0]): Promise<boolean> {
  for await (const _ of staging.list(partKeys(toPartsPrefix(record)).parts)) return true;
  return false;
}

export async function loadStagedFiles(
  staging: Staging,
  record: Parameters<typeof toPartsPrefix>[0],
): Promise<Map<string, StagedFile>> {
  const files = new Map<string, StagedFile>();
  for await (const receipt of listFileReceipts(staging, toPartsPrefix(record)))
    for (const file of listStagedFiles(receipt)) files.set(file.fileId, file);
  return files;
}

export async function findFiles(
  { openSourceBucket }: SourceAccess,
  { manifest, baseDir }: ManifestAt,
  {
    allowEmpty = false,
    wasThere,
    onLeftOut,
  }: Pick<SourceContext, 'allowEmpty' | 'wasThere' | 'onLeftOut'> = {},
): Promise<SourceSlice[]> {
  const source = bindSource(manifest.source);
  const access = { baseDir, openS3: openSourceBucket, allowEmpty, wasThere, onLeftOut };
  const slices = await source.discover(access);
  return slices.map((slice) => toSourceSlice(slice, source, access));
}
