import { Redis } from 'ioredis';
import { getMessage } from './errors.ts';

/**
 * Replies of a Redis that cannot do now what it will do later: full, read-only during a failover, loading its
 * data, unable to save, without enough replicas, without its cluster, busy with a script.
 * https://github.com/redis/redis/blob/7.2/src/server.c (createSharedObjects)
 */
const OUTAGES = 'OOM|READONLY|LOADING|MISCONF|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|UNBLOCKED';
/** Redis 6 quotes the reply that a script met: `ERR Error running script (…): @user_script:1: -OOM command …`. */
const OUTAGE = new RegExp(`^(?:${OUTAGES}) |@user_script: ?\\d+: -(?:${OUTAGES}) `);

export const isRedisOutage = (error: unknown): boolean => OUTAGE.test(getMessage(error));

/** Until a command that Redis cannot do now is sent again. */
const OUTAGE_RETRY_MS = 1_000;
/** After a connection was lost: 50 ms, 100 ms … 2 s. */
const getReconnectMs = (attempt: number) => Math.min(2_000, 50 * attempt);

/**
 * A connection whose commands wait for ever while Redis is away, or answers that it cannot be used now: both
 * are one kind of outage, and every caller knows how to wait for one. A command that met such an answer is
 * sent again on a new connection, which after a failover leads to the new master. Each such answer is also
 * emitted as an `error`, as a lost connection is.
 */
export function connectRedis(url: string): Redis {
  let metOutageAtMs = Number.NEGATIVE_INFINITY;
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    reconnectOnError(error) {
      if (!isRedisOutage(error)) return false;
      metOutageAtMs = performance.now();
      if (redis.listenerCount('error') > 0) redis.emit('error', error);
      return 2; // reconnect, and send the command again
    },
    retryStrategy: (attempt) =>
      performance.now() - metOutageAtMs < OUTAGE_RETRY_MS ? OUTAGE_RETRY_MS : getReconnectMs(attempt),
  });
  return redis;
}
