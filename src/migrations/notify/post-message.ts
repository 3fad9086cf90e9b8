import { lookup as resolve } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { getMessage } from '../../lib/errors.ts';
import { isPrivateAddress } from './private-address.ts';
import type { SignedMessage } from './sign.ts';

export interface PostOptions {
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
  /** @default 10,000 */
  readonly withinMs?: number;
  /** For names. @default that of the system */
  readonly resolve?: typeof resolve;
}

export type Posted = { readonly kind: 'delivered' } | { readonly kind: 'failed'; readonly reason: string };

const WITHIN_MS = 10_000;
/** Of an answer, which nobody reads; more ends the connection. */
const ANSWER_BYTES = 65_536;

/**
 * Sends a message once. Any 2xx means that it arrived; redirects are not followed. The address is looked at after its
 * name was resolved, and the very address that was looked at is connected to. The reason names neither the address
 * nor the answer. Never throws.
 */
export function postMessage({ headers, body }: SignedMessage, options: PostOptions): Promise<Posted> {
  const { url, allowPrivate, withinMs = WITHIN_MS } = options;
  const { protocol } = new URL(url);
  const host = toHost(url);
  if (isIP(host) !== 0 && !allowPrivate && isPrivateAddress(host)) return Promise.resolve(failed(REFUSED));
  return new Promise((settle) => {
    const send = protocol === 'https:' ? requestHttps : requestHttp;
    const bytes = Buffer.from(body);
    const request = send(url, {
      method: 'POST',
      agent: false,
      signal: options.signal,
      headers: { ...headers, 'content-length': bytes.length },
      ...(allowPrivate ? {} : { lookup: createPublicLookup(options.resolve ?? resolve) }),
    });
    const end = (posted: Posted) => {
      clearTimeout(deadline);
      settle(posted);
      request.destroy();
    };
    const deadline = setTimeout(() => end(failed(LATE)), withinMs);
    request.on('error', (error) => end(failed(options.signal.aborted ? LATE : describe(error))));
    request.once('response', (response) => {
      const { statusCode = 0 } = response;
      const answered = statusCode >= 200 && statusCode < 300 ? DELIVERED : failed(`HTTP ${statusCode}`);
      let received = 0;
      response.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > ANSWER_BYTES) end(answered);
      });
      response.once('close', () => end(answered));
    });
    request.end(bytes);
  });
}

/** Why nothing can be posted there, as far as the name or its addresses tell now; sends no request. Never throws. */
export async function findRefusal({
  url,
  allowPrivate,
  resolve: lookup = resolve,
}: Pick<PostOptions, 'url' | 'allowPrivate' | 'resolve'>): Promise<string | undefined> {
  if (allowPrivate) return undefined;
  const host = toHost(url);
  if (isIP(host) !== 0) return isPrivateAddress(host) ? REFUSED : undefined;
  return new Promise((settle) => {
    createPublicLookup(lookup)(host, {}, (error) => settle(error ? describe(error) : undefined));
  });
}

const toHost = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

const DELIVERED = { kind: 'delivered' } as const;
const failed = (reason: string) => ({ kind: 'failed', reason }) as const;

const LATE = 'no answer in time';

const REFUSED =
  'the address is of this machine or of a private network; BACKHAUL_WEBHOOK_ALLOW_PRIVATE=true allows it';

class PrivateAddressError extends Error {}

/** Every address of a name must be public: which one is connected to would be chance. */
function createPublicLookup(lookup: typeof resolve): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      if (addresses.some(({ address }) => isPrivateAddress(address)))
        return callback(new PrivateAddressError(REFUSED), []);
      const [first] = addresses;
      if (first === undefined) return callback(new Error('no address'), []);
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/** Messages of Node.js name the host, so only what is known to be harmless is kept. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof PrivateAddressError) return getMessage(error);
  return error.code === undefined ? 'the connection failed' : `the connection failed (${error.code})`;
}
