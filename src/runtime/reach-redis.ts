import { Redis } from 'ioredis';
import { withTimeout } from '../lib/async/timeout.ts';
import { explainCertificate } from '../lib/certificate.ts';
import { ConfigError, getMessage } from '../lib/errors.ts';
import {
  classifyReply,
  explainMissingRight,
  explainRefusedByRedis,
  getReplyCode,
} from '../lib/redis/redis-reply.ts';

const DEFAULT_WITHIN_MS = 10_000;
const TRY_EVERY_MS = 250;

/**
 * Connects to a Redis and returns what `ask` does, or throws a ConfigError with what is wrong and what to do.
 * The connections of a run wait for ever, as a run outlives a Redis that restarts; a wrong address or password
 * would keep them waiting without a message. @default withinMs 10 seconds
 */
export async function reachRedis<T>(
  url: string,
  ask: (redis: Redis) => Promise<T>,
  withinMs = DEFAULT_WITHIN_MS,
): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: () => TRY_EVERY_MS,
  });
  let last: unknown;
  // Only events carry why a connection failed.
  const refused = new Promise<never>((_, reject) => {
    redis.on('error', (error: unknown) => {
      last = error;
      if (isRefusal(error)) reject(error);
    });
  });
  try {
    return await withTimeout(
      Promise.race([ask(redis), refused]),
      withinMs,
      () => last ?? new Error(`no answer within ${withinMs / 1_000} s`),
    );
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`${describeAddress(url)} cannot be used: ${explainFailure(error)}`, error);
  } finally {
    redis.disconnect();
  }
}

/** Trying again cannot help. */
const isRefusal = (error: unknown) =>
  // Redis 5 and some services have no code of their own for a wrong password.
  classifyReply(error) === 'refusal' || /invalid password|without any password/i.test(getMessage(error));

/** Host and port alone: an address may carry a password (I10). */
function describeAddress(url: string): string {
  if (!URL.canParse(url)) return 'The Redis that REDIS_URL names';
  const { hostname, port } = new URL(url);
  return `Redis at ${hostname}:${port || 6379}`;
}

function explainFailure(error: unknown): string {
  const certificate = explainCertificate(error, 'this Redis');
  if (certificate !== undefined) return certificate;
  const message = getMessage(error);
  const { code } = error as NodeJS.ErrnoException;
  const own = 'where REDIS_URL is unset, Backhaul runs a Redis of its own';
  if (code === 'ECONNREFUSED')
    return `nothing listens there (connection refused). Start it, or correct REDIS_URL; ${own}`;
  if (code === 'ENOTFOUND') return `there is no host of that name (${code}). Correct REDIS_URL; ${own}`;
  if (code === 'EAI_AGAIN')
    return `no name server answers for its name (${code}). Look at the network and the name servers of this machine, then run the command again; ${own}`;
  if (getReplyCode(error) === 'NOPERM') return explainMissingRight(message);
  if (getReplyCode(error) === 'MOVED') return explainRefusedByRedis(error);
  if (isRefusal(error))
    return `it refuses the user or the password (${message}). Correct them in REDIS_URL: redis://user:password@host:port`;
  return `${message}. Check the address in REDIS_URL, and whether it takes rediss:// (TLS)`;
}
