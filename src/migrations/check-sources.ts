import type { StagedFile } from '../contract/part.ts';
import type { SourceSlice } from '../sources/source.ts';
import type { MigrationRecord } from '../state/migrations.ts';

/** What became of a source since the migration recorded its files. */
export interface SourceChanges<S> {
  /** Why what was begun cannot be continued, as sentences; empty when it can. */
  readonly differences: readonly string[];
  /** The files that the migration has recorded, under the names recorded. */
  readonly known: readonly S[];
  /** Those that it has not, for a top-up. */
  readonly added: readonly S[];
}

type Found = Pick<SourceSlice, 'fileId' | 'name' | 'bytes' | 'modified' | 'location'>;

/**
 * Compares the files of a source with those that a migration recorded. A file staged to its end may be gone:
 * its parts are kept. One that is only touched or copied is compared by content. A file under a new name is
 * the one that it was: of staged files the content tells it, of others size and time of the last change.
 */
export async function checkSources<S extends Found>(
  recorded: MigrationRecord['files'],
  found: readonly S[],
  staged: ReadonlyMap<string, StagedFile>,
  hashSource: (file: S) => Promise<string>,
): Promise<SourceChanges<S>> {
  const differences: string[] = [];
  const known: S[] = [];
  const byId = new Map(found.map((file) => [file.fileId, file]));
  const recordedIds = new Set(recorded.map(({ fileId }) => fileId));
  const gone: RecordedFile[] = [];

  for (const one of recorded) {
    const file = byId.get(one.fileId);
    const receipt = staged.get(one.fileId);
    if (file) known.push(file);
    else gone.push(one);
    if (!file || !receipt) continue;
    // As it was when it was staged to its end: a broken file may have been replaced before that.
    const { bytes, modified, sha256 } = receipt.fingerprint;
    const { name } = one;
    if (file.bytes !== bytes) differences.push(`${name} had ${bytes} bytes, it has ${file.bytes} now`);
    else if (file.modified !== modified && (await hashSource(file)) !== sha256) {
      differences.push(`${name} has other content than the one that was staged`);
    }
  }

  const added: S[] = [];
  const findRenamed = createFindRenamed(gone, staged, hashSource);
  const back = new Set<string>();
  for (const file of found) {
    if (recordedIds.has(file.fileId)) continue;
    const renamed = await findRenamed(file);
    if (!renamed) added.push(file);
    else {
      back.add(renamed.fileId);
      if (!staged.has(renamed.fileId)) known.push({ ...file, fileId: renamed.fileId, name: renamed.name });
    }
  }
  for (const { fileId, name } of gone)
    if (!staged.has(fileId) && !back.has(fileId))
      differences.push(`${name} is gone, and was not staged to its end`);
  return { differences, known, added };
}

type RecordedFile = MigrationRecord['files'][number];

/**
 * Finds the recorded file that a file with a name of its own was before, each one once; undefined where it is
 * none of them. There may be tens of thousands, so they are looked up and not compared one by one.
 */
function createFindRenamed<S extends Found>(
  gone: readonly RecordedFile[],
  staged: ReadonlyMap<string, StagedFile>,
  hashSource: (file: S) => Promise<string>,
): (file: S) => Promise<RecordedFile | undefined> {
  const sizes = new Set<number>();
  const byContent = new Map<string, RecordedFile[]>();
  const byTime = new Map<string, RecordedFile[]>();
  for (const one of gone.toReversed()) {
    const fingerprint = staged.get(one.fileId)?.fingerprint;
    if (!fingerprint) add(byTime, nameTime(one), one);
    else {
      sizes.add(fingerprint.bytes);
      add(byContent, fingerprint.sha256, one);
    }
  }
  return async (file) => {
    const same = sizes.has(file.bytes) ? byContent.get(await hashSource(file))?.pop() : undefined;
    // Only the process that found a file can open it by another name.
    return same ?? (file.location === 'producer' ? byTime.get(nameTime(file))?.pop() : undefined);
  };
}

const nameTime = ({ bytes, modified }: Pick<RecordedFile, 'bytes' | 'modified'>): string =>
  `${bytes} ${modified}`;

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
