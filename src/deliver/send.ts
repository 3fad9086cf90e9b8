import { setFlagsFromString } from 'node:v8';
import { constants } from 'node:zlib';
// The whole of undici has fetch, WebSockets and caches, which take three times as long to load.
import request from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { raceAbort, runAbortable } from '../lib/async/abort.ts';
import { ConfigError } from '../lib/errors.ts';
import { gzip } from '../lib/gzip.ts';
import { giveBuffer, takeBuffer } from '../lib/spare-buffers.ts';
import { type BudgetClock, SYSTEM_CLOCK } from './budget/budget.ts';
import type { TargetResponse } from './classify.ts';
import { unpackBody } from './unpack-body.ts';

/** Bounds of one request. Node's sockets have none by default. */
export interface SendTimeouts {
  readonly connectMs: number;
  /** From the sent request to the headers of the response. */
  readonly headersMs: number;
  /** Between two chunks of the response body. */
  readonly bodyMs: number;
  /** The whole request: ends a response that trickles. */
  readonly totalMs: number;
}

export const DEFAULT_SEND_TIMEOUTS: SendTimeouts = {
  connectMs: 10_000,
  headersMs: 50_000,
  bodyMs: 20_000,
  totalMs: 55_000,
};

export interface Sender {
  /** Address of requests, for messages. */
  readonly address: string;
  /**
   * One attempt. Throws the socket's error, or the signal's reason. `assertMaySend` is asked once there is a
   * connection: nothing is written before it resolves.
   */
  send(compressed: Buffer, signal: AbortSignal, assertMaySend?: () => Promise<void>): Promise<TargetResponse>;
  close(): Promise<void>;
}

const RESPONSE_MAX_BYTES = 64 * 1024;

/** Runs off the main thread. Level 2 costs no more CPU than level 1 and compresses better. */
export async function compress(chunks: readonly Buffer[]): Promise<Buffer> {
  const memory = takeBuffer(chunks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const chunk of chunks) end += chunk.copy(memory, end);
  try {
    return await gzip(memory.subarray(0, end), GZIP);
  } finally {
    giveBuffer(memory);
  }
}

/** A request of 1,000 usual events packs to 80 to 100 KB: it is written in one go, and no more is taken for it. */
const GZIP = { level: constants.Z_BEST_SPEED + 1, chunkSize: 128 * 1024 };

/**
 * `url` is the address in front of `/batch/`. Redirects are never followed: they are responses like others.
 * `clock` measures `totalMs`; the other bounds are those of the sockets.
 */
export function createSender(
  url: string,
  connections: number,
  timeouts: SendTimeouts,
  clock: Pick<BudgetClock, 'wait'> = SYSTEM_CLOCK,
): Sender {
  const { origin, path } = parseBatchAddress(url);
  keepParserBaseline();
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
    // Without this, any packing of the answer would be right.
    'accept-encoding': 'identity',
  };

  return {
    address: origin + path,

    async send(compressed, signal, assertMaySend) {
      return runAbortable([signal], async (watchdog) => {
        const ended = new AbortController();
        clock.wait(timeouts.totalMs, ended.signal).then(
          () => watchdog.abort(new Error(`no complete response within ${timeouts.totalMs} ms`)),
          () => {}, // it ended before
        );
        try {
          const response = await request.call(pool, {
            path,
            method: 'POST',
            headers: { ...headers, 'content-length': String(compressed.length) },
            body: assertMaySend ? writeOnce(compressed, assertMaySend, watchdog.signal) : compressed,
            signal: watchdog.signal,
          });
          const { head, isWhole } = await raceAbort(readHead(response.body), watchdog.signal);
          const text = unpackBody(head, getFirst(response.headers['content-encoding']), RESPONSE_MAX_BYTES);
          return {
            status: response.statusCode,
            retryAfter: getFirst(response.headers['retry-after']),
            location: getFirst(response.headers['location']),
            // A beginning that is JSON by itself is no answer: what follows may say no (I12).
            body: isWhole ? text : `${text}…`,
          };
        } finally {
          ended.abort();
        }
      });
    },

    // Aborting requests in flight is up to the caller; close does not wait for them.
    close: () => pool.destroy(),
  };
}

/** The head of a request goes out with the first bytes of its body. */
async function* writeOnce(body: Buffer, assertMaySend: () => Promise<void>, signal: AbortSignal) {
  await raceAbort(assertMaySend(), signal);
  yield body;
}

const getFirst = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/**
 * The parser of undici is WebAssembly with one very large function. V8 would optimize that after a few responses, for
 * a tenth of a second of CPU time and 40 MB of memory, while responses are small and one comes for a thousand events. A
 * higher budget only puts it off: the largest is spent after some 300 responses. Without tiers of their own, functions
 * would all be optimized at once, so that is turned off as well.
 */
function keepParserBaseline(): void {
  setFlagsFromString('--no-wasm-dynamic-tiering');
  setFlagsFromString('--no-wasm-tier-up');
}

/** Leaving the loop early closes the connection: the rest of a large response is not needed. */
async function readHead(body: AsyncIterable<Buffer>): Promise<{ head: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > RESPONSE_MAX_BYTES) break;
  }
  const head = Buffer.concat(chunks).subarray(0, RESPONSE_MAX_BYTES);
  return { head, isWhole: bytes <= RESPONSE_MAX_BYTES };
}

function parseBatchAddress(url: string): { origin: string; path: string } {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) {
    throw new ConfigError(
      'destination.url is not an http(s) address: write it as https://analytics.example.com',
    );
  }
  if (address.username || address.password || address.search || address.hash) {
    throw new ConfigError(
      `destination.url must be a plain address without user name, password, ? or #: ${address.origin}${address.pathname}`,
    );
  }
  return { origin: address.origin, path: `${address.pathname.replace(/\/+$/, '')}/batch/` };
}

/** Node nests the reason of a failed connection one level down. */
export function describeBreak(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  if (error.message === '' && inner !== undefined) return describeBreak(inner);
  const code: unknown = Reflect.get(error, 'code');
  // The text of OpenSSL is of several lines, and names its source files.
  if (typeof code === 'string' && (code.startsWith('ERR_SSL_') || code === 'EPROTO'))
    return `the TLS handshake failed (${code}): there may be http:// at this address, or another version of TLS`;
  return typeof code === 'string' && !error.message.includes(code)
    ? `${error.message} (${code})`
    : error.message;
}
