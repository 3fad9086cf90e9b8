import {
  PART_MAX_BYTES,
  PART_MAX_FILES,
  PART_MAX_RECORDS,
  type PartRecord,
  type RecordFormat,
} from '../../contract/part.ts';
import type { RecordChunk } from '../../sources/formats/read-records.ts';
import { FrameWriter } from '../../state/frames.ts';

/** A part ready to be written. */
export interface CutPart {
  readonly number: number;
  readonly format: RecordFormat;
  readonly firstRecord: number;
  readonly records: number;
  readonly frames: Buffer;
  /** Of a group of files, the records of each; empty otherwise. */
  readonly pieces: readonly CutPiece[];
}

/** Consecutive records of one file in a part, and where their frames are. */
export interface CutPiece extends FileOfGroup {
  /** Number of the first one in its file. */
  readonly firstRecord: number;
  readonly records: number;
  readonly start: number;
  readonly end: number;
}

/** A file that shares parts with others. */
export interface FileOfGroup {
  readonly fileId: string;
  readonly file: string;
}

export interface PartLimits {
  readonly records: number;
  readonly bytes: number;
  readonly files: number;
}

/**
 * Cuts a file's records into parts. Depends on the records alone and never on how the chunks fell:
 * same records in, same parts out. A part has one format and one header row, so a zip whose members
 * differ starts a new part where they do. Parts that are staged already keep their ends: a file that was
 * cut off by a fault and fetched again continues after its last part, which was smaller than usual.
 */
export class PartCutter {
  private readonly limits: PartLimits;
  private readonly staged: StagedParts;
  private open: OpenPart | undefined;
  private file: FileOfGroup | undefined;
  /** Number of the next record in its file, of a group. */
  private fileRecord = 0;
  private number = 0;
  private firstRecord = 0;

  constructor(
    limits: PartLimits = { records: PART_MAX_RECORDS, bytes: PART_MAX_BYTES, files: PART_MAX_FILES },
    /** Parts that exist, by number. */
    staged: StagedParts = new Map(),
  ) {
    this.limits = limits;
    this.staged = staged;
  }

  /** The records that follow are of this file of a group, from this one on. */
  startFile(file: FileOfGroup, firstRecord = 0): void {
    this.file = file;
    this.fileRecord = firstRecord;
  }

  /** Takes a chunk's records and yields the parts that they fill. */
  *add({ format, header, records }: RecordChunk): Generator<CutPart> {
    if (this.open && !isSameForm(this.open, format, header)) yield* this.end();
    for (const record of records) {
      if (this.open && this.isFullFor(record, this.open)) yield* this.end();
      this.open ??= { format, header, frames: new FrameWriter(header), pieces: [] };
      if (this.file) this.countPiece(this.file, this.open);
      this.open.frames.add(record);
    }
  }

  /** Opens a piece where the record to come does not continue the last one. */
  private countPiece({ fileId, file }: FileOfGroup, { frames, pieces }: OpenPart): void {
    const last = pieces.at(-1);
    if (last?.fileId === fileId && last.firstRecord + last.records === this.fileRecord) last.records += 1;
    else {
      if (last) last.end = frames.bytes;
      frames.startFile(file);
      pieces.push({
        fileId,
        file,
        firstRecord: this.fileRecord,
        records: 1,
        start: frames.bytes,
        end: frames.bytes,
      });
    }
    this.fileRecord += 1;
  }

  /** The part that is open, if any. */
  *end(): Generator<CutPart> {
    if (!this.open) return;
    const { format, frames, pieces } = this.open;
    const { number, firstRecord } = this;
    const last = pieces.at(-1);
    if (last) last.end = frames.bytes;
    this.open = undefined;
    this.number += 1;
    this.firstRecord += frames.records;
    yield { number, format, firstRecord, records: frames.records, frames: frames.take(), pieces };
  }

  private isFullFor(record: PartRecord, { frames, pieces }: OpenPart): boolean {
    const next = this.staged.get(this.number + 1);
    // One whose description was lost ends where the next one begins.
    const gap = next?.firstRecord === undefined ? this.limits.records : next.firstRecord - this.firstRecord;
    const most = this.staged.get(this.number)?.records ?? Math.min(this.limits.records, gap);
    if (frames.records >= most || frames.bytesWith(record, this.file?.file) > this.limits.bytes) return true;
    return pieces.length >= this.limits.files && pieces.at(-1)?.fileId !== this.file?.fileId;
  }
}

/** `firstRecord`: absent where it is not known. */
export type StagedParts = ReadonlyMap<
  number,
  { readonly records: number; readonly firstRecord?: number | undefined }
>;

interface OpenPart {
  readonly format: RecordFormat;
  readonly header: Uint8Array | undefined;
  readonly frames: FrameWriter;
  readonly pieces: Mutable<CutPiece>[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function isSameForm(
  open: { format: RecordFormat; header: Uint8Array | undefined },
  format: RecordFormat,
  header: Uint8Array | undefined,
): boolean {
  const a = open.format.kind === 'csv' ? open.format.delimiter : '';
  const b = format.kind === 'csv' ? format.delimiter : '';
  if (open.format.kind !== format.kind || a !== b) return false;
  if (!open.header || !header) return open.header === header;
  return Buffer.compare(open.header, header) === 0;
}
