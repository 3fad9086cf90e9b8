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

/** And a part of small files at this many: its counts by file are part of each checkpoint. */
export const PART_MAX_FILES = 500;

/** How the frames of a part are stored. */
export const packing = z.enum(['none', 'brotli']);
export type Packing = z.infer<typeof packing>;

/**
 * A staged, immutable piece of one slice. Its object holds frames (src/state/frames.ts).
 * Its description is written after it: a part exists once it is described.
 */
export const partMeta = z.strictObject({
  /** `<fileId>/<five-digit number>`, unique in the migration. */
  id: z.string(),
  /** Of the slice. */
  fileId: z.string(),
  /** For messages: the path or s3:// address as found; of a group of files, the first and the last. */
  file: z.string(),
  number: z.number().int().nonnegative(),
  format: recordFormat,
  records: z.number().int().nonnegative(),
  /** Size of the frames before compression. */
  bytes: z.number().int().nonnegative(),
  /** Absent in parts of earlier versions: gzip. */
  packing: packing.optional(),
  /** SHA-256 over the object, hex; of a part of an earlier version, over its frames before compression. */
  sha256: z.string(),
  etag: z.string(),
  /** Number of the part's first record in its file (of a group: in the first of its files), from 0. */
  firstRecord: z.number().int().nonnegative(),
  /**
   * `record`: uuids are made of whole records, as in a replay of different records that share an id.
   * @default 'vendor'
   */
  idFrom: z.literal('record').optional(),
});
export type PartMeta = z.infer<typeof partMeta>;

/** Consecutive records of one file in a part of several files. */
export const filePiece = z.strictObject({
  fileId: z.string(),
  file: z.string(),
  /** Number of the piece's first record in its file, from 0. */
  firstRecord: z.number().int().nonnegative(),
  records: z.number().int().positive(),
  /** SHA-256 over the piece's frames, hex. */
  sha256: z.string(),
});
export type FilePiece = z.infer<typeof filePiece>;

/** What is stored next to a part. Jobs are given the part without its pieces, of which there may be hundreds. */
export const partDescription = partMeta.extend({
  /** Of a part of several files: which records are whose, in order. */
  pieces: z.array(filePiece).optional(),
});
export type PartDescription = z.infer<typeof partDescription>;

/** Distinguishes a changed file from an unchanged one. */
const fingerprint = z.strictObject({ bytes: z.number(), modified: z.string(), sha256: z.string() });

const stagedFile = z.strictObject({
  fileId: z.string(),
  file: z.string(),
  fingerprint,
  records: z.number().int().nonnegative(),
});
/** A file of which every record is staged. */
export type StagedFile = z.infer<typeof stagedFile>;

/** Written when a slice is staged to its end: its list of parts is then complete. */
export const fileReceipt = stagedFile.extend({
  parts: z.number().int().nonnegative(),
  /** Of a group of files: those that are staged to their ends. */
  files: z.array(stagedFile).optional(),
  /** Of a group of files: those that are not, and why. Only without any is the group complete. */
  broken: z.array(z.strictObject({ fileId: z.string(), file: z.string(), reason: z.string() })).optional(),
});
export type FileReceipt = z.infer<typeof fileReceipt>;

/** Whether nothing of a slice is left to be staged. */
export const isStaged = (receipt: FileReceipt | undefined): boolean =>
  receipt !== undefined && (receipt.broken ?? []).length === 0;

/** The files that a receipt stands for. */
export const listStagedFiles = (receipt: FileReceipt): readonly StagedFile[] => receipt.files ?? [receipt];

/**
 * One record of a part. `line` counts from 1 in `member`, or in the file itself. `file` is set in parts of
 * several files alone.
 */
export type PartRecord =
  | {
      readonly kind: 'record';
      readonly file?: string | undefined;
      readonly member: string | undefined;
      readonly line: number;
      readonly bytes: Uint8Array;
    }
  | {
      readonly kind: 'oversize';
      readonly file?: string | undefined;
      readonly member: string | undefined;
      readonly line: number;
      /** The first bytes of the record. */
      readonly head: Uint8Array;
      readonly size: number;
      readonly sha256: string;
    };
