import { Redis } from 'ioredis';
import { hideEvictionPolicy } from './eviction-policy.ts';
import { classifyReply } from './redis-reply.ts';

/** Until a command that Redis cannot do now is sent again. */
const OUTAGE_RETRY_MS = 1_000;
/**
 * Until a connection without an answer is given up for a new one. A host that disappears, as in a failover, closes none:
 * it would be waited for until the kernel gives up, or for ever behind a proxy that took what was sent. Longer than any
 * command waits at the server: BullMQ blocks for up to 10 s.
 */
const REDIS_ANSWERS_WITHIN_MS = 30_000;
/** After a connection was lost: 50 ms, 100 ms … 2 s. */
const getReconnectMs = (attempt: number) => Math.min(2_000, 50 * attempt);

/**
 * A connection whose commands wait for ever while Redis is away, or answers that it cannot be used now: both
 * are one kind of outage, and every caller knows how to wait for one. A command that met such an answer is
 * sent again on a new connection, which after a failover leads to the new master. Each such answer is also
 * emitted as an `error`, as a lost connection is.
 */
export function connectRedis(url: string, answerWithinMs = REDIS_ANSWERS_WITHIN_MS): Redis {
  keepStringsFast();
  let metOutageAtMs = Number.NEGATIVE_INFINITY;
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    socketTimeout: answerWithinMs,
    reconnectOnError(error) {
      if (classifyReply(error) !== 'outage') return false;
      metOutageAtMs = performance.now();
      redis.emit('error', error);
      return 2; // reconnect, and send the command again
    },
    retryStrategy: (attempt) =>
      performance.now() - metOutageAtMs < OUTAGE_RETRY_MS ? OUTAGE_RETRY_MS : getReconnectMs(attempt),
  });
  // ioredis adds a listener for each such answer, of as many commands as were under way.
  redis.on('connect', () => redis.stream.setMaxListeners(0));
  return adapt(hideEvictionPolicy(redis));
}

/**
 * A connection whose commands fail soon while Redis is away: for whoever answers a request meanwhile, or tries again
 * later.
 */
export const connectToAsk = (url: string): Redis =>
  hideEvictionPolicy(new Redis(url, { maxRetriesPerRequest: 2, socketTimeout: REDIS_ANSWERS_WITHIN_MS }));

/**
 * ioredis prints an error that nobody listens for, with its stack, past the log: such as of a connection of BullMQ that
 * is being closed. Who uses a connection hears of what is wrong with it. And a connection that is closed between two
 * tries neither ends nor ends what waits for it, unless it looks as if it had never tried. Returns the same connection.
 */
function adapt<T extends Redis>(redis: T): T {
  redis.on('error', () => {});
  const duplicate = redis.duplicate.bind(redis);
  const disconnect = redis.disconnect.bind(redis);
  return Object.assign(redis, {
    duplicate: (...options: Parameters<typeof duplicate>) => adapt(duplicate(...options)),
    disconnect(reconnect?: boolean) {
      if (!reconnect && redis.status === 'reconnecting') redis.status = 'wait';
      disconnect(reconnect);
    },
  });
}

/**
 * Loading ioredis, which has a class that extends String, makes V8 keep the methods of strings in a slow table, and
 * compiled loops over the characters of records then look each one up: a tenth of an import. V8 makes the table
 * fast again when a function that has run a few times reads a property of a String object.
 */
function keepStringsFast(): void {
  const text: StringMethods = Object('');
  for (let reads = 0; reads < READS_UNTIL_FAST; reads += 1) readMethod(text);
}

type StringMethods = { readonly charCodeAt?: unknown };
const readMethod = ({ charCodeAt }: StringMethods): unknown => charCodeAt;

/** Ten suffice in Node.js 20. */
const READS_UNTIL_FAST = 200;
