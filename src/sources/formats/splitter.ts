import type { PartRecord } from '../../contract/part.ts';

/** Cuts UTF-8 text into records, chunk by chunk, with their original bytes. Pure but for what it carries over. */
export interface Splitter {
  /** The header row, once seen. Only CSV has one. */
  readonly header: Uint8Array | undefined;
  /** Appends the records that end in `chunk`. */
  push(chunk: Buffer, out: PartRecord[]): void;
  /** Appends the last record; SourceError when the text breaks off inside a structure. */
  end(out: PartRecord[]): void;
}
