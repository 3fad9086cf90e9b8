import { PART_MAX_BYTES, PART_MAX_RECORDS, type PartRecord, type RecordFormat } from '../../contract/part.ts';
import type { RecordChunk } from '../../sources/formats/read-records.ts';
import { FrameWriter } from '../../state/frames.ts';

/** A part ready to be written. */
export interface CutPart {
  readonly number: number;
  readonly format: RecordFormat;
  readonly firstRecord: number;
  readonly records: number;
  readonly frames: Buffer;
}

export interface PartLimits {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Cuts a file's records into parts. Depends on the records alone and never on how the chunks fell:
 * same records in, same parts out. A part has one format and one header row, so a zip whose members
 * differ starts a new part where they do. Parts that are staged already keep their ends: a file that was
 * cut off by a fault and fetched again continues after its last part, which was smaller than usual.
 */
export class PartCutter {
  private readonly limits: PartLimits;
  private readonly staged: ReadonlyMap<number, { readonly records: number }>;
  private open: { format: RecordFormat; header: Uint8Array | undefined; frames: FrameWriter } | undefined;
  private number = 0;
  private firstRecord = 0;

  constructor(
    limits: PartLimits = { records: PART_MAX_RECORDS, bytes: PART_MAX_BYTES },
    /** Parts that exist, by number. */
    staged: ReadonlyMap<number, { readonly records: number }> = new Map(),
  ) {
    this.limits = limits;
    this.staged = staged;
  }

  /** Takes a chunk's records and yields the parts that they fill. */
  *add({ format, header, records }: RecordChunk): Generator<CutPart> {
    if (this.open && !isSameForm(this.open, format, header)) yield* this.end();
    for (const record of records) {
      if (this.open && this.isFullFor(record, this.open.frames)) yield* this.end();
      this.open ??= { format, header, frames: new FrameWriter(header) };
      this.open.frames.add(record);
    }
  }

  /** The part that is open, if any. */
  *end(): Generator<CutPart> {
    if (!this.open) return;
    const { format, frames } = this.open;
    const { number, firstRecord } = this;
    this.open = undefined;
    this.number += 1;
    this.firstRecord += frames.records;
    yield { number, format, firstRecord, records: frames.records, frames: frames.take() };
  }

  private isFullFor(record: PartRecord, frames: FrameWriter): boolean {
    const most = this.staged.get(this.number)?.records ?? this.limits.records;
    return frames.records >= most || frames.bytesWith(record) > this.limits.bytes;
  }
}

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
