import type { StagedFile } from '../../contract/part.ts';
import type { SourceSlice } from '../../sources/source.ts';
import type { MigrationRecord } from '../../state/migrations.ts';

/** What became of a source since the migration recorded its files. */
export interface SourceChanges<S> {
  /** Why what was begun cannot be continued, as sentences; empty when it can. */
  readonly differences: readonly string[];
  /** The files that the migration has recorded, under the names recorded. */
  readonly known: readonly S[];
  /** Those that it has not, for a top-up. */
  readonly added: readonly S[];
  /** Files recorded that are gone and were not staged to their ends: each of them fails, and nothing else does. */
  readonly lost: readonly RecordedFile[];
}

type RecordedFile = MigrationRecord['files'][number];
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
  const replaced: Replaced<S>[] = [];

  for (const one of recorded) {
    const file = byId.get(one.fileId);
    const receipt = staged.get(one.fileId);
    if (file) known.push(file);
    else gone.push(one);
    if (!file || !receipt) continue;
    // As it was when it was staged to its end: a broken file may have been replaced before that.
    const { bytes, modified, sha256 } = receipt.fingerprint;
    const { name } = one;
    if (file.bytes !== bytes)
      replaced.push({
        name,
        file,
        bytes,
        sha256,
        difference: `had ${bytes} bytes, it has ${file.bytes} now`,
      });
    else if (file.modified !== modified && (await hashSource(file)) !== sha256) {
      const difference = 'has other content than the one that was staged';
      replaced.push({ name, file, bytes, sha256, difference });
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
  const others = [...added, ...replaced.map(({ file }) => file)];
  for (const one of replaced) {
    const moved = await findMoved(one, others, hashSource);
    differences.push(`${one.name} ${one.difference}${moved ? explainRotation(one.name, moved.name) : ''}`);
  }
  const lost = gone.filter(({ fileId }) => !staged.has(fileId) && !back.has(fileId));
  return { differences, known, added, lost };
}

/** A file that was staged, and another one that has its name now. */
interface Replaced<S> {
  readonly name: string;
  readonly file: S;
  /** Of what was staged. */
  readonly bytes: number;
  readonly sha256: string;
  readonly difference: string;
}

/** The file, among those that are new or replaced, that holds what was staged. */
async function findMoved<S extends Found>(
  { file, bytes, sha256 }: Replaced<S>,
  others: readonly S[],
  hashSource: (file: S) => Promise<string>,
): Promise<S | undefined> {
  for (const other of others)
    if (other !== file && other.bytes === bytes && (await hashSource(other)) === sha256) return other;
  return undefined;
}

const explainRotation = (name: string, moved: string): string =>
  `: files were rotated, and what was staged is ${moved} now. Give what is ${name} now a name that it keeps, such as one with its date; ${moved} is recognised by its content`;

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
