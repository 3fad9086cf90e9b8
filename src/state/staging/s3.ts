import { randomUUID } from 'node:crypto';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError, SourceError } from '../../lib/errors.ts';
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

  /** Some servers ignore the condition in a bucket with versions, or in every bucket. */
  async function askWhetherConditional(): Promise<void> {
    const key = toObjectKey(`_doctor/${randomUUID()}`);
    const body = Buffer.from('probe');
    await bucket.put(key, body);
    const isCreatedAgain = await bucket.create(key, body);
    await bucket.remove(key);
    if (!isCreatedAgain) return;
    throw new ConfigError(
      `${location} ignores If-None-Match, which keeps two writers apart: use a bucket without versioning, or an S3 server that supports conditional writes`,
    );
  }
  let asked: Promise<void> | undefined;
  /** Asked once, before the first object that is created. */
  const assertConditional = (): Promise<void> => {
    asked ??= askWhetherConditional().catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
    return asked;
  };

  return {
    location,
    put: async (key, body) => bucket.put(toObjectKey(key), body),
    async create(key, body) {
      await assertConditional();
      return bucket.create(toObjectKey(key), body);
    },
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
