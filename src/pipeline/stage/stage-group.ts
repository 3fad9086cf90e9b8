import { createHash } from 'node:crypto';
import {
  type FilePiece,
  type FileReceipt,
  isStaged,
  type PartDescription,
  type PartRecord,
  type StagedFile,
} from '../../contract/part.ts';
import { getMessage, SourceError } from '../../lib/errors.ts';
import type { RecordChunk } from '../../sources/formats/read-records.ts';
import type { SourceSlice } from '../../sources/source.ts';
import { FrameWriter } from '../../state/frames.ts';
import { hashBytes } from '../../state/hash-bytes.ts';
import {
  createFileReceipt,
  listFileParts,
  loadFileReceiptVersion,
  withoutPieces,
} from '../../state/parts.ts';
import { type CutPart, PartCutter } from './cut-parts.ts';
import { explainChange, keepPart } from './keep-part.ts';
import { readUntilAborted } from './read-until-aborted.ts';
import type { SliceGroup } from './slice-groups.ts';
import type { StageSliceInput } from './stage-slice.ts';

/**
 * Stages small files into common parts. Parts that exist say which records of which files they hold: those are
 * compared and not staged again, and whatever is not in a part yet goes into new ones. So staging continues
 * after an interruption, and a broken file neither holds the others up nor changes their parts once it is
 * repaired. Memory holds two parts.
 */
export async function stageGroup(input: StageSliceInput<SliceGroup>): Promise<FileReceipt> {
  const { slice: group, staging, prefix, onPart, signal } = input;
  const known: PartDescription[] = [];
  for await (const part of listFileParts(staging, prefix, group.fileId)) known.push(part);
  const before = await loadFileReceiptVersion(staging, prefix, group.fileId);
  const earlier = before.receipt;
  if (earlier) assertSameFiles(group, earlier);
  for (const part of known) await onPart?.(withoutPieces(part));
  if (earlier && isStaged(earlier) && known.length === earlier.parts && isUntouched(group, earlier))
    return earlier;

  const cutter = new PartCutter();
  const freeNumber = createFreeNumbers(known);
  let parts = known.length;
  // While one part is packed and written, the next one is read.
  let writing: Promise<void> = Promise.resolve();
  const write = async (cut: CutPart) => {
    await writing;
    parts += 1;
    // Not its number among all records of the group: a file that is repaired later would move it.
    const part = { ...cut, number: freeNumber(), firstRecord: cut.pieces[0]?.firstRecord ?? 0 };
    writing = keepPart(part, input, undefined).then((description) => onPart?.(withoutPieces(description)));
    writing.catch(() => {}); // whoever awaits it next sees the error
  };

  const piecesOf = collectPieces(known);
  const doneBefore = new Map(earlier?.files?.map((file) => [file.fileId, file]));
  const files: StagedFile[] = [];
  const broken: { fileId: string; file: string; reason: string }[] = [];
  try {
    for (const file of group.files) {
      const pieces = piecesOf.get(file.fileId) ?? [];
      const done = doneBefore.get(file.fileId);
      if (done && isWhole(file, done, pieces)) {
        files.push(done); // also one that is gone: its records are in parts
        continue;
      }
      const hash = createHash('sha256');
      const staged = new StagedRecords(file, pieces);
      try {
        for await (const chunk of readUntilAborted(file, (bytes) => hash.update(bytes), signal)) {
          for (const { first, records } of staged.listFresh(chunk)) {
            cutter.startFile({ fileId: file.fileId, file: file.name }, first);
            for (const part of cutter.add({ ...chunk, records })) await write(part);
          }
        }
        staged.end();
        const fingerprint = { bytes: file.bytes, modified: file.modified, sha256: hash.digest('hex') };
        files.push({ fileId: file.fileId, file: file.name, fingerprint, records: staged.records });
      } catch (error) {
        if (!(error instanceof SourceError) || signal.aborted) throw error;
        // What precedes the fault is imported all the same (I1), and so are the other files.
        broken.push({ fileId: file.fileId, file: file.name, reason: getMessage(error) });
      }
    }
    for (const part of cutter.end()) await write(part);
  } finally {
    await Promise.allSettled([writing]);
  }
  await writing;
  signal.throwIfAborted();

  const receipt = createGroupReceipt(group, { parts, files, broken });
  await createFileReceipt(staging, prefix, receipt, before);
  if (broken.length > 0) throw explainBroken(broken);
  return receipt;
}

interface Run {
  readonly first: number;
  readonly records: readonly PartRecord[];
}

/** Tells the records of a file that are in parts already from those that are not. */
class StagedRecords {
  records = 0;
  readonly #file: SourceSlice;
  readonly #pieces: readonly FilePiece[];
  #next = 0;
  /** The frames of the piece under way, to compare it by its hash. */
  #frames: FrameWriter | undefined;

  constructor(file: SourceSlice, pieces: readonly FilePiece[]) {
    this.#file = file;
    this.#pieces = pieces.toSorted((a, b) => a.firstRecord - b.firstRecord);
  }

  /** The runs of a chunk's records that are in no part; `first` is a run's first record in the file. */
  listFresh({ records }: RecordChunk): Run[] {
    if (this.#next === this.#pieces.length) {
      this.records += records.length;
      return [{ first: this.records - records.length, records }];
    }
    const runs: { first: number; records: PartRecord[] }[] = [];
    let isFresh = false;
    for (const record of records) {
      const wasFresh = isFresh;
      isFresh = !this.#compare(record);
      if (isFresh && wasFresh) runs.at(-1)?.records.push(record);
      else if (isFresh) runs.push({ first: this.records, records: [record] });
      this.records += 1;
    }
    return runs;
  }

  /** Throws SourceError where parts hold more of the file than there is now. */
  end(): void {
    if (this.#next < this.#pieces.length) throw explainChange(this.#file, 'it has fewer records');
  }

  /** Whether the record is in a part; throws SourceError at the end of a piece that held others. */
  #compare(record: PartRecord): boolean {
    const piece = this.#pieces[this.#next];
    if (!piece || this.records < piece.firstRecord) return false;
    this.#frames ??= new FrameWriter(undefined);
    this.#frames.add(record);
    if (this.#frames.records < piece.records) return true;
    const sha256 = hashBytes(this.#frames.take());
    this.#frames = undefined;
    this.#next += 1;
    if (sha256 !== piece.sha256) throw explainChange(this.#file, 'it has other content');
    return true;
  }
}

/** Whether a file that was staged to its end is untouched, and all of its records still in parts. */
const isWhole = (file: SourceSlice, { fingerprint, records }: StagedFile, pieces: readonly FilePiece[]) =>
  fingerprint.modified === file.modified &&
  fingerprint.bytes === file.bytes &&
  pieces.reduce((sum, piece) => sum + piece.records, 0) === records;

function collectPieces(parts: readonly PartDescription[]): Map<string, FilePiece[]> {
  const byFile = new Map<string, FilePiece[]>();
  for (const { pieces = [] } of parts) {
    for (const piece of pieces) {
      const known = byFile.get(piece.fileId);
      if (known) known.push(piece);
      else byFile.set(piece.fileId, [piece]);
    }
  }
  return byFile;
}

/** A part whose description was lost gets its number back, as its records are the first that are missing. */
function createFreeNumbers(known: readonly PartDescription[]): () => number {
  const taken = new Set(known.map(({ number }) => number));
  let next = 0;
  return () => {
    while (taken.has(next)) next += 1;
    next += 1;
    return next - 1;
  };
}

/** How staging a group ended. */
interface Ended {
  readonly parts: number;
  readonly files: StagedFile[];
  readonly broken: { readonly fileId: string; readonly file: string; readonly reason: string }[];
}

function createGroupReceipt(
  { fileId, name, bytes, modified }: SliceGroup,
  { parts, files, broken }: Ended,
): FileReceipt {
  const hash = createHash('sha256');
  for (const { fingerprint } of files) hash.update(fingerprint.sha256);
  return {
    fileId,
    file: name,
    fingerprint: { bytes, modified, sha256: hash.digest('hex') },
    parts,
    records: files.reduce((sum, { records }) => sum + records, 0),
    files,
    ...(broken.length === 0 ? {} : { broken }),
  };
}

function assertSameFiles(group: SliceGroup, { files = [] }: FileReceipt): void {
  const bytesOf = new Map(group.files.map(({ fileId, bytes }) => [fileId, bytes]));
  for (const { fileId, file, fingerprint } of files) {
    const bytes = bytesOf.get(fileId);
    if (bytes !== undefined && bytes !== fingerprint.bytes) {
      throw explainChange({ name: file }, `it had ${fingerprint.bytes} bytes and now has ${bytes}`);
    }
  }
}

function isUntouched(group: SliceGroup, { files = [] }: FileReceipt): boolean {
  const modified = new Map(files.map(({ fileId, fingerprint }) => [fileId, fingerprint.modified]));
  return group.files.every((file) => modified.get(file.fileId) === file.modified);
}

const FILES_NAMED = 5;

function explainBroken(broken: readonly { readonly reason: string }[]): SourceError {
  const named = broken.slice(0, FILES_NAMED).map(({ reason }) => reason);
  const more = broken.length - named.length;
  return new SourceError([...named, ...(more > 0 ? [`and ${more} files more`] : [])].join('\n'));
}
