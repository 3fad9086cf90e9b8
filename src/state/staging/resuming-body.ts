import { Readable } from 'node:stream';
import { withTimeout } from '../../lib/async/timeout.ts';
import { ConfigError, UnavailableError } from '../../lib/errors.ts';

export interface ResumingBody {
  /** First byte wanted. */
  readonly start: number;
  /** Byte to stop before; undefined reads to the end. */
  readonly end: number | undefined;
  /** The object must still have this etag; when undefined, that of the first response. */
  readonly etag: string | undefined;
  readonly idleTimeoutMs: number;
  readonly request: (
    from: number,
    etag: string | undefined,
  ) => Promise<{
    Body?: unknown;
    ETag?: string | undefined;
    ContentLength?: number | undefined;
    ContentRange?: string | undefined;
  }>;
  readonly toError: (error: unknown) => unknown;
  /** Called for each piece that arrives. */
  readonly onBytes?: () => void;
}

/** Tries without a new byte, or at a standstill, before reading fails. */
const STUCK_TRIES = 5;
/** A body that brings fewer bytes in an idle timeout stands still: byte by byte, it would hold a run for hours. */
const LEAST_BYTES = 1024;

class StandstillError extends Error {}

/**
 * The complete body of an object. The SDK does not retry once a body has begun, and waits for ever on a
 * socket that died without an error (https://github.com/aws/aws-sdk-js-v3/issues/8098). A body that breaks or
 * stalls is therefore requested again from the byte where it stopped, with the same etag.
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
        `the body stopped at byte ${position} and did not continue in ${STUCK_TRIES} tries`,
        'backoff',
        lastError,
      );
    }
    stuck += 1;
    const tries = stuck;
    let fresh = 0;
    let leftMs = wanted.idleTimeoutMs;
    // A failed request is final: it has been retried already.
    const response = await wanted.request(position, etag).catch((error: unknown) => {
      throw wanted.toError(error);
    });
    if (position > 0 && response.ContentRange?.startsWith(`bytes ${position}-`) !== true) {
      throw new ConfigError('the S3 endpoint ignores the Range header; use one that serves byte ranges');
    }
    etag ??= response.ETag;
    if (response.ContentLength !== undefined) end = position + response.ContentLength;
    if (!(response.Body instanceof Readable)) {
      if (end === undefined || end === position) return;
      throw new Error('the S3 client gave no stream');
    }
    const body = response.Body;
    const chunks: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        // Only while bytes are awaited, never while the consumer is busy.
        const askedMs = performance.now();
        const result = await withTimeout(
          chunks.next(),
          leftMs,
          () => new StandstillError(`${fresh} bytes came in ${wanted.idleTimeoutMs} ms`),
        );
        if (result.done) break;
        const chunk = result.value as Buffer;
        position += chunk.length;
        wanted.onBytes?.();
        stuck = 0;
        fresh += chunk.length;
        leftMs = Math.max(0, leftMs - (performance.now() - askedMs));
        if (fresh >= LEAST_BYTES) {
          fresh = 0;
          leftMs = wanted.idleTimeoutMs;
        }
        yield chunk;
      }
      if (end === undefined) return;
    } catch (error) {
      if (error instanceof StandstillError) stuck = tries;
      lastError = error;
    } finally {
      body.destroy();
    }
  }
}
