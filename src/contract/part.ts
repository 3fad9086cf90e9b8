import { z } from 'zod';

/** A part is closed at whichever of these comes first. Bytes are counted before compression. */
export const PART_MAX_RECORDS = 20_000;
export const PART_MAX_BYTES = 8 * 1024 * 1024;
/** Of a larger record only head, hash and position are kept, and it becomes a reject. */
export const RECORD_MAX_BYTES = 8 * 1024 * 1024;

/** The format of the records of a part. */
export const recordFormat = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('json') }),
  z.strictObject({ kind: z.literal('csv'), delimiter: z.string().length(1) }),
]);
export type RecordFormat = z.infer<typeof recordFormat>;

/**
 * A staged, immutable slice of one source file. Its object holds gzipped frames (src/state/frames.ts).
 * Its description is written after it: a part exists once it is described.
 */
export const partMeta = z.strictObject({
  /** `<fileId>/<five-digit number>`, unique in the migration. */
  id: z.string(),
  fileId: z.string(),
  /** For messages: the path or s3:// address as found. */
  file: z.string(),
  number: z.number().int().nonnegative(),
  format: recordFormat,
  records: z.number().int().nonnegative(),
  /** Size of the frames before compression. */
  bytes: z.number().int().nonnegative(),
  /** SHA-256 over the frames before compression, hex. */
  sha256: z.string(),
  etag: z.string(),
  /** Number of the part's first record in its file, from 0. */
  firstRecord: z.number().int().nonnegative(),
});
export type PartMeta = z.infer<typeof partMeta>;

/** Written when a source file is staged to its end: its list of parts is then complete. */
export const fileReceipt = z.strictObject({
  fileId: z.string(),
  file: z.string(),
  /** Distinguishes a changed file from an unchanged one. */
  fingerprint: z.strictObject({ bytes: z.number(), modified: z.string(), sha256: z.string() }),
  parts: z.number().int().nonnegative(),
  records: z.number().int().nonnegative(),
});
export type FileReceipt = z.infer<typeof fileReceipt>;

/** One record of a part. `line` counts from 1 in `member`, or in the file itself. */
export type PartRecord =
  | {
      readonly kind: 'record';
      readonly member: string | undefined;
      readonly line: number;
      readonly bytes: Uint8Array;
    }
  | {
      readonly kind: 'oversize';
      readonly member: string | undefined;
      readonly line: number;
      /** The first bytes of the record. */
      readonly head: Uint8Array;
      readonly size: number;
      readonly sha256: string;
    };
