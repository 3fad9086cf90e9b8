import { createHash } from 'node:crypto';
import type { SourceFile } from '../../sources/files/source-file.ts';
import { type ReadOptions, readRecords } from '../../sources/formats/read-records.ts';

/** The sha256 that staging a file leaves in its receipt: over its bytes in the order they are read. */
export async function sourceSha256(file: SourceFile, read: ReadOptions): Promise<string> {
  const hash = createHash('sha256');
  const chunks = readRecords(file, read, (bytes) => hash.update(bytes));
  for await (const _ of chunks);
  return hash.digest('hex');
}
