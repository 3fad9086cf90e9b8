import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { Pool } from 'undici';
import { orAborted } from '../lib/async/abort.ts';
import { ConfigError } from '../lib/errors.ts';
import type { Answer } from './classify.ts';

const gzipBuffer = promisify(gzip);

/** The watchdog of one request. Node's sockets have none of their own. */
export interface SendTimeouts {
  readonly connectMs: number;
  /** From the sent request to the answer's headers. */
  readonly headersMs: number;
  /** Between two pieces of the answer's body. */
  readonly bodyMs: number;
  /** The whole request: ends an answer that trickles. */
  readonly totalMs: number;
}

export const DEFAULT_SEND_TIMEOUTS: SendTimeouts = {
  connectMs: 10_000,
  headersMs: 50_000,
  bodyMs: 20_000,
  totalMs: 55_000,
};

/** For the budget: an attempt's whole life from its permit on, the permit's own travel included. */
export const REQUEST_TIMEOUT_MS = 60_000;

export interface Sender {
  /** Where requests go, for messages. */
  readonly address: string;
  /** One attempt. Throws what the socket threw, or the signal's reason. */
  send(compressed: Buffer, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

const ANSWER_MAX_BYTES = 64 * 1024;

/** Level 2 costs no more than level 1 and packs better; off the main thread. */
export const compress = (pieces: readonly Buffer[]): Promise<Buffer> =>
  gzipBuffer(Buffer.concat(pieces), { level: constants.Z_BEST_SPEED + 1, chunkSize: 256 * 1024 });

/** `url` is what stands in front of `/batch/`. Redirects are answers like any other, never followed. */
export function createSender(url: string, connections: number, timeouts: SendTimeouts): Sender {
  const { origin, path } = batchAddress(url);
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    connect: { timeout: timeouts.connectMs },
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
  });
  const headers = {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    accept: 'application/json',
  };

  return {
    address: origin + path,

    async send(compressed, signal) {
      signal.throwIfAborted();
      const watchdog = new AbortController();
      const stop = () => watchdog.abort(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      const timer = setTimeout(
        () => watchdog.abort(new Error(`no whole answer within ${timeouts.totalMs} ms`)),
        timeouts.totalMs,
      );
      try {
        const response = await pool.request({
          path,
          method: 'POST',
          headers,
          body: compressed,
          signal: watchdog.signal,
        });
        return {
          status: response.statusCode,
          retryAfter: single(response.headers['retry-after']),
          location: single(response.headers['location']),
          body: await orAborted(readHead(response.body), watchdog.signal),
        };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      }
    },

    // Requests under way are the caller's to abort; nothing waits for a hung one here.
    close: () => pool.destroy(),
  };
}

const single = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** Leaving the loop early closes the connection: the rest of a large answer is not worth reading. */
async function readHead(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= ANSWER_MAX_BYTES) break;
  }
  return Buffer.concat(pieces).subarray(0, ANSWER_MAX_BYTES).toString('utf8');
}

function batchAddress(url: string): { origin: string; path: string } {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) {
    throw new ConfigError(
      'destination.url is not an http(s) address: write it as https://analytics.example.com',
    );
  }
  if (address.username || address.password || address.search || address.hash) {
    throw new ConfigError(
      `destination.url must be an address alone, without user name, password, ? or #: ${address.origin}${address.pathname}`,
    );
  }
  return { origin: address.origin, path: `${address.pathname.replace(/\/+$/, '')}/batch/` };
}

/** A broken request in words: Node hides the reason of a failed connection one level down. */
export function describeBreak(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  if (error.message === '' && inner !== undefined) return describeBreak(inner);
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' && !error.message.includes(code)
    ? `${error.message} (${code})`
    : error.message;
}
