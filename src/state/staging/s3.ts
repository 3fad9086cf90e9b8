import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { assertKey, assertPrefix } from './key.ts';
import { createS3Bucket, type S3Options } from './s3-bucket.ts';

export interface S3StagingOptions extends S3Options {
  /** Prepended to every key, with or without a closing slash; may be empty. */
  readonly prefix: string;
}

/** Staging in a bucket: the choice for more than one machine. */
export function createS3Staging(options: S3StagingOptions): Staging {
  const bucket = createS3Bucket(options);
  const base = options.prefix.replace(/^\/+|\/+$/g, '');
  const root = base === '' ? '' : `${base}/`;
  const toObjectKey = (key: string) => root + assertKey(key);
  const location = `s3://${options.bucket}/${base}`;

  return {
    location,
    put: async (key, body) => bucket.put(toObjectKey(key), body),
    create: async (key, body) => bucket.create(toObjectKey(key), body),
    get: async (key, _take, signal) => bucket.get(toObjectKey(key), signal),
    async getRange(key, offset, length) {
      const chunks: Buffer[] = [];
      for await (const chunk of bucket.open(toObjectKey(key), { start: offset, end: offset + length }))
        chunks.push(chunk);
      const body = Buffer.concat(chunks);
      if (body.length < length) {
        throw new SourceError(
          `${location}: ${key} ends at byte ${offset + body.length}, but bytes up to ${offset + length} were requested`,
        );
      }
      return body;
    },
    async *list(prefix) {
      for await (const { key, bytes } of bucket.list(root + assertPrefix(prefix))) {
        yield { key: key.slice(root.length), bytes };
      }
    },
    remove: async (key) => bucket.remove(toObjectKey(key)),
  };
}
