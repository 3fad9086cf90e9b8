import { createHash } from 'node:crypto';
import type { FileReceipt, PartMeta } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import type { SourceFile } from '../../sources/files/source-file.ts';
import { type ReadOptions, readRecords } from '../../sources/formats/read-records.ts';
import { encodeDocument } from '../../state/document.ts';
import { partKeys } from '../../state/keys.ts';
import { listFileParts, loadFileReceipt } from '../../state/parts.ts';
import { type CutPart, PartCutter } from './cut-parts.ts';
import { changed, keepPart } from './keep-part.ts';

export interface StageFileInput {
  readonly file: SourceFile;
  readonly staging: Staging;
  /** Of the migration, with its closing slash. */
  readonly prefix: string;
  readonly read: ReadOptions;
  /** Told of each part once it exists, in order; parts staged earlier included. */
  readonly onPart?: ((meta: PartMeta) => Promise<void> | void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * In: a source file. Out: its parts and, last of all, the receipt that makes them complete. Same bytes
 * in, same parts out; so staging that was interrupted starts at the front again and writes only what
 * is missing. Memory holds two parts, whatever the file's size.
 */
export async function stageFile(input: StageFileInput): Promise<FileReceipt> {
  const { file, staging, prefix, read, onPart, signal } = input;
  const known = new Map<number, PartMeta>();
  for await (const part of listFileParts(staging, prefix, file.fileId)) known.set(part.number, part);
  const earlier = await loadFileReceipt(staging, prefix, file.fileId);
  if (earlier) assertSameSize(file, earlier);
  if (earlier && earlier.fingerprint.modified === file.modified && known.size === earlier.parts) {
    for (const part of [...known.values()].sort((a, b) => a.number - b.number)) await onPart?.(part);
    return earlier;
  }

  const hash = createHash('sha256');
  const cutter = new PartCutter(undefined, known);
  let parts = 0;
  let records = 0;
  // While one part is packed and written, the next one is read.
  let writing: Promise<void> = Promise.resolve();
  const write = async (part: CutPart) => {
    await writing;
    parts += 1;
    records += part.records;
    writing = keepPart(part, input, known.get(part.number)).then(onPart);
    writing.catch(() => {}); // told to the next one who waits
  };

  try {
    for await (const chunk of readRecords(file, read, (bytes) => hash.update(bytes))) {
      signal.throwIfAborted();
      for (const part of cutter.add(chunk)) await write(part);
    }
    for (const part of cutter.end()) await write(part);
  } catch (error) {
    // What stands before the fault is imported all the same (I1).
    if (error instanceof SourceError) for (const part of cutter.end()) await write(part);
    throw error;
  } finally {
    await Promise.allSettled([writing]);
  }
  await writing;
  signal.throwIfAborted();

  if ([...known.keys()].some((number) => number >= parts)) throw changed(file, 'it has fewer records');
  const sha256 = hash.digest('hex');
  if (earlier && earlier.fingerprint.sha256 !== sha256) throw changed(file, 'it has other content');
  const receipt: FileReceipt = {
    fileId: file.fileId,
    file: file.name,
    fingerprint: { bytes: file.bytes, modified: file.modified, sha256 },
    parts,
    records,
  };
  await staging.put(partKeys(prefix).receipt(file.fileId), encodeDocument(receipt));
  return receipt;
}

function assertSameSize(file: SourceFile, earlier: FileReceipt): void {
  const { bytes } = earlier.fingerprint;
  if (bytes !== file.bytes) throw changed(file, `it had ${bytes} bytes and now has ${file.bytes}`);
}

