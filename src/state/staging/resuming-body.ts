import { Readable } from 'node:stream';
import { withTimeout } from '../../lib/async/timeout.ts';
import { ConfigError, UnavailableError } from '../../lib/errors.ts';

export interface ResumingBody {
  /** First byte wanted. */
  readonly start: number;
  /** Byte to stop before; undefined reads to the end. */
  readonly end: number | undefined;
  /** What the object must still be; taken from the first answer when not known. */
  readonly etag: string | undefined;
  readonly idleTimeoutMs: number;
  readonly request: (
    from: number,
    etag: string | undefined,
    signal: AbortSignal,
  ) => Promise<{
    Body?: unknown;
    ETag?: string | undefined;
    ContentLength?: number | undefined;
    ContentRange?: string | undefined;
  }>;
  readonly toError: (error: unknown) => unknown;
}

/** Tries without a single new byte before the reading is given up. */
const STUCK_TRIES = 5;

/**
 * The body of an object, whole. The SDK does not retry once a body has begun, and waits for ever on a
 * socket that died logConnectionErrors (https://github.com/aws/aws-sdk-js-v3/issues/8098): a body that breaks or
 * stands still is asked for again from the byte where it stopped, of the same version of the object.
 */
export async function* resumingBody(wanted: ResumingBody): AsyncGenerator<Buffer> {
  let { etag } = wanted;
  let position = wanted.start;
  let end = wanted.end;
  let stuck = 0;
  let lastError: unknown;

  while (end === undefined || position < end) {
    if (stuck === STUCK_TRIES) {
      throw new UnavailableError(
        `the body stopped at byte ${position} and did not go on in ${STUCK_TRIES} tries`,
        'backoff',
        lastError,
      );
    }
    stuck += 1;
    const abort = new AbortController();
    // Only a request that never began is final here: the SDK has retried it already.
    const answer = await wanted.request(position, etag, abort.signal).catch((error: unknown) => {
      throw wanted.toError(error);
    });
    if (position > 0 && answer.ContentRange === undefined) {
      throw new ConfigError('the S3 endpoint ignores the Range header; use one that serves byte ranges');
    }
    etag ??= answer.ETag;
    if (answer.ContentLength !== undefined) end = position + answer.ContentLength;
    if (!(answer.Body instanceof Readable)) {
      if (end === undefined || end === position) return;
      throw new Error('the S3 client gave no stream');
    }
    const body = answer.Body;
    const chunks: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        // Only while bytes are awaited, never while the consumer is busy.
        const result = await withTimeout(
          chunks.next(),
          wanted.idleTimeoutMs,
          () => new Error(`no byte came for ${wanted.idleTimeoutMs} ms`),
        );
        if (result.done) break;
        const chunk = result.value as Buffer;
        position += chunk.length;
        stuck = 0;
        yield chunk;
      }
      if (end === undefined) return;
    } catch (error) {
      lastError = error;
    } finally {
      abort.abort();
      body.destroy();
    }
  }
}
