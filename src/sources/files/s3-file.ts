import type { Slice } from '../../contract/slice.ts';
import { SourceError } from '../../lib/errors.ts';
import type { SourceFile } from './source-file.ts';

/** What sources need of a bucket; errors are Backhaul's own. */
export interface SourceBucket {
  list(prefix: string): AsyncIterable<SourceObject>;
  open(key: string, range: { start?: number; end?: number; etag?: string }): AsyncIterable<Buffer>;
}

export interface SourceObject {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
}

/**
 * Every read insists on the version that was listed, so a replaced object is an error, not a mixture; and on all of
 * its bytes, as a text that ends early would look like a shorter one.
 */
export function createS3File(
  bucket: SourceBucket,
  key: string,
  { name, bytes, modified }: Pick<Slice, 'name' | 'bytes' | 'modified'>,
): SourceFile {
  const version = modified === '' ? {} : { etag: `"${modified}"` };
  return {
    name,
    bytes,
    async *open({ start, end } = { start: 0, end: bytes }) {
      const range = start === 0 && end === bytes ? {} : { start, end };
      let position = start;
      for await (const chunk of bucket.open(key, { ...range, ...version })) {
        position += chunk.length;
        yield chunk;
      }
      if (position < end) throw new SourceError(`${name} ends at byte ${position}, before byte ${end}`);
    },
    async readAt(offset, length) {
      const chunks: Buffer[] = [];
      for await (const chunk of this.open({ start: offset, end: offset + length })) chunks.push(chunk);
      const buffer = Buffer.concat(chunks);
      if (buffer.length !== length) {
        throw new SourceError(
          `${name} ends at byte ${offset + buffer.length}, before byte ${offset + length}`,
        );
      }
      return buffer;
    },
  };
}
