import type { StagedFile } from '../contract/part.ts';
import type { Slice } from '../contract/slice.ts';
import type { MigrationRecord } from '../state/migrations.ts';

/**
 * How the source differs from what it was when the migration was created, as sentences; empty when it is
 * still the same. A file staged to its end may be gone: its parts are kept. One that is only
 * touched or copied is compared by content.
 */
export async function checkSources<S extends Slice>(
  recorded: MigrationRecord['files'],
  found: readonly S[],
  staged: ReadonlyMap<string, StagedFile>,
  hashSource: (file: S) => Promise<string>,
): Promise<string[]> {
  const differences: string[] = [];
  const byId = new Map(found.map((file) => [file.fileId, file]));
  const known = new Set(recorded.map(({ fileId }) => fileId));

  for (const { fileId, name } of recorded) {
    const file = byId.get(fileId);
    const receipt = staged.get(fileId);
    if (!file && !receipt) differences.push(`${name} is gone, and was not staged to its end`);
    if (!file || !receipt) continue;
    // As it was when it was staged to its end: a broken file may have been replaced before that.
    const { bytes, modified, sha256 } = receipt.fingerprint;
    if (file.bytes !== bytes) differences.push(`${name} had ${bytes} bytes, it has ${file.bytes} now`);
    else if (file.modified !== modified && (await hashSource(file)) !== sha256) {
      differences.push(`${name} has other content than the one that was staged`);
    }
  }
  for (const { fileId, name } of found) if (!known.has(fileId)) differences.push(`${name} is new`);
  return differences;
}
