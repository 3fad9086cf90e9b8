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

/** Every read insists on the version that was listed, so a replaced object is an error, not a mixture. */
export function createS3File(
  bucket: SourceBucket,
  key: string,
  { name, bytes, modified }: Pick<Slice, 'name' | 'bytes' | 'modified'>,
): SourceFile {
  const version = modified === '' ? {} : { etag: `"${modified}"` };
  return {
    name,
    bytes,
    open: (range) => bucket.open(key, { ...range, ...version }),
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
