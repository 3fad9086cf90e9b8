import type { PartRecord } from '../../../src/contract/part.ts';
import { createFileId, type SourceFile } from '../../../src/sources/files/source-file.ts';
import {
  type ReadOptions,
  type RecordChunk,
  readRecords,
} from '../../../src/sources/formats/read-records.ts';
import type { SourceSlice } from '../../../src/sources/source.ts';

/** A source file in memory, handed out in chunks of a size that tests choose. */
export function memoryFile(body: Buffer | string, chunkBytes = 64 * 1024, name = 'export'): SourceFile {
  const bytes = Buffer.from(body);
  return {
    name,
    bytes: bytes.length,
    async *open({ start, end } = { start: 0, end: bytes.length }) {
      for (let at = start; at < end; at += chunkBytes)
        yield bytes.subarray(at, Math.min(end, at + chunkBytes));
    },
    readAt: async (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** The same as a slice of a file source. */
export function memorySlice(
  body: Buffer | string,
  { chunkBytes, name, read = {} }: { chunkBytes?: number; name?: string; read?: ReadOptions } = {},
): SourceSlice {
  const file = memoryFile(body, chunkBytes, name);
  return {
    fileId: createFileId(file.name),
    name: file.name,
    bytes: file.bytes,
    modified: '2024-01-01T00:00:00.000Z',
    location: 'producer',
    readRecords: (onBytes) => readRecords(file, read, onBytes),
  };
}

export interface ReadAll {
  readonly chunks: readonly RecordChunk[];
  readonly records: readonly PartRecord[];
  readonly texts: readonly string[];
  readonly lines: readonly number[];
  /** What the reading threw, after the records. */
  readonly failure: unknown;
}

export async function readAll(file: SourceFile, options: ReadOptions = {}): Promise<ReadAll> {
  const chunks: RecordChunk[] = [];
  let failure: unknown;
  try {
    for await (const chunk of readRecords(file, options)) chunks.push(chunk);
  } catch (error) {
    failure = error;
  }
  const records = chunks.flatMap((chunk) => chunk.records);
  return {
    chunks,
    records,
    texts: records.map((record) =>
      Buffer.from(record.kind === 'record' ? record.bytes : record.head).toString(),
    ),
    lines: records.map((record) => record.line),
    failure,
  };
}
