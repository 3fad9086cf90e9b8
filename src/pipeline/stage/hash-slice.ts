import { createHash } from 'node:crypto';
import type { SourceSlice } from '../../sources/source.ts';

/** The sha256 that staging a slice leaves in its receipt: over its bytes in the order they are read. */
export async function hashSlice(slice: SourceSlice): Promise<string> {
  const hash = createHash('sha256');
  const chunks = slice.readRecords((bytes) => hash.update(bytes));
  for await (const _ of chunks);
  return hash.digest('hex');
}
