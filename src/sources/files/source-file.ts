import { createHash } from 'node:crypto';

/** The bytes of one file, wherever it is stored. Each read fails with a SourceError once the file is gone or changed. */
export interface SourceFile {
  /** What messages call it: path relative to the base folder, or `s3://bucket/key`. */
  readonly name: string;
  readonly bytes: number;
  /** Its bytes in order, from `start` (default 0) to before `end` (default: all), in chunks. */
  open(range?: ByteRange): AsyncIterable<Buffer>;
  /** Exactly `length` bytes from `offset`. */
  readAt(offset: number, length: number): Promise<Buffer>;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export const createFileId = (name: string): string =>
  createHash('sha256').update(name).digest('hex').slice(0, 12);
