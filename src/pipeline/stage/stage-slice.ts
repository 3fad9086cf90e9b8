import { createHash } from 'node:crypto';
import type { FileReceipt, Packing, PartDescription, PartMeta } from '../../contract/part.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import type { SourceSlice } from '../../sources/source.ts';
import {
  createFileReceipt,
  listFileParts,
  loadFileReceiptVersion,
  withoutPieces,
} from '../../state/parts.ts';
import { type CutPart, PartCutter } from './cut-parts.ts';
import { explainChange, keepPart } from './keep-part.ts';
import { proveCuts } from './prove-cuts.ts';
import { readUntilAborted } from './read-until-aborted.ts';
import { isGroup, type StagedSlice } from './slice-groups.ts';
import { stageGroup } from './stage-group.ts';

export interface StageSliceInput<S extends StagedSlice = StagedSlice> {
  readonly slice: S;
  readonly staging: Staging;
  /** Of the migration, with its closing slash. */
  readonly prefix: string;
  /** How new parts are stored. @default 'brotli' */
  readonly packing?: Packing | undefined;
  /** Called for each part once it exists, in order; parts staged earlier included. */
  readonly onPart?: ((meta: PartMeta) => Promise<void> | void) | undefined;
  readonly signal: AbortSignal;
}

/**
 * In: a slice. Out: its parts and, last of all, the receipt that makes them complete. Same bytes
 * in, same parts out; so staging that was interrupted starts at the front again and writes only what
 * is missing. Throws StagedMeanwhileError where another process stages the slice at the same time and sees it
 * differently. Memory holds two parts, whatever the file's size.
 */
export function stageSlice({ slice, ...input }: StageSliceInput): Promise<FileReceipt> {
  return isGroup(slice) ? stageGroup({ slice, ...input }) : stageFile({ slice, ...input });
}

async function stageFile(input: StageSliceInput<SourceSlice>): Promise<FileReceipt> {
  const { slice, staging, prefix, onPart, signal } = input;
  const known = new Map<number, PartDescription>();
  for await (const part of listFileParts(staging, prefix, slice.fileId)) known.set(part.number, part);
  const before = await loadFileReceiptVersion(staging, prefix, slice.fileId);
  const earlier = before.receipt;
  if (earlier) assertSameSize(slice, earlier);
  if (earlier && earlier.fingerprint.modified === slice.modified && known.size === earlier.parts) {
    for (const part of [...known.values()].sort((a, b) => a.number - b.number))
      await onPart?.(withoutPieces(part));
    return earlier;
  }

  const hash = createHash('sha256');
  const hasLost = earlier !== undefined && known.size < earlier.parts;
  const cutter = new PartCutter(undefined, hasLost ? await proveCuts(input, known, earlier) : known);
  let parts = 0;
  let records = 0;
  // While one part is packed and written, the next one is read.
  let writing: Promise<void> = Promise.resolve();
  const write = async (part: CutPart) => {
    await writing;
    parts += 1;
    records += part.records;
    writing = keepPart(part, input, known.get(part.number)).then((kept) => onPart?.(withoutPieces(kept)));
    writing.catch(() => {}); // whoever awaits it next sees the error
  };

  try {
    for await (const chunk of readUntilAborted(slice, (bytes) => hash.update(bytes), signal)) {
      for (const part of cutter.add(chunk)) await write(part);
      chunk.free?.();
    }
    for (const part of cutter.end()) await write(part);
  } catch (error) {
    // What precedes the fault is imported all the same (I1).
    if (error instanceof SourceError && !signal.aborted) for (const part of cutter.end()) await write(part);
    throw error;
  } finally {
    await Promise.allSettled([writing]);
  }
  await writing;
  signal.throwIfAborted();

  if ([...known.keys()].some((number) => number >= parts)) throw explainChange(slice, 'it has fewer records');
  const sha256 = hash.digest('hex');
  if (earlier && earlier.fingerprint.sha256 !== sha256) throw explainChange(slice, 'it has other content');
  const receipt: FileReceipt = {
    fileId: slice.fileId,
    file: slice.name,
    fingerprint: { bytes: slice.bytes, modified: slice.modified, sha256 },
    parts,
    records,
  };
  await createFileReceipt(staging, prefix, receipt, before);
  return receipt;
}

function assertSameSize(slice: SourceSlice, earlier: FileReceipt): void {
  const { bytes } = earlier.fingerprint;
  if (bytes !== slice.bytes) throw explainChange(slice, `it had ${bytes} bytes and now has ${slice.bytes}`);
}
