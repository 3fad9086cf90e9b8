import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

const CHUNK_BYTES = 128 * 1024;

/**
 * Calls `onProgress` while a large body is on its way: a slow line takes longer for one than a server may be silent. The
 * SDK writes a body at once, and how much of that is sent is not known; here the next piece follows once the one before
 * it is with the operating system.
 */
export function watchUploads(client: S3Client, onProgress: () => void): void {
  // Within the tries of the SDK, whose requests keep the whole body.
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args as { readonly request?: { readonly body?: unknown } };
      const body = request?.body;
      if (!Buffer.isBuffer(body) || body.length <= CHUNK_BYTES) return next(args);
      const pieces = Readable.from(cut(body, onProgress), { objectMode: false });
      const cutRequest = Object.assign(Object.create(Object.getPrototypeOf(request)), request, {
        body: pieces,
      });
      return next({ ...args, request: cutRequest });
    },
    { step: 'deserialize', priority: 'low', name: 'watchUploads' },
  );
}

function* cut(body: Buffer, onProgress: () => void): Generator<Buffer> {
  for (let from = 0; from < body.length; from += CHUNK_BYTES) {
    if (from > 0) onProgress();
    yield body.subarray(from, from + CHUNK_BYTES);
  }
}
