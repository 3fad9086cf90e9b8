import type { Redis } from 'ioredis';

const POLICY = /^maxmemory_policy:(.*?)\r?$/m;

/** The policy by which a Redis drops keys when it is full, as a sentence; undefined where it drops none. */
export async function explainEviction(redis: Pick<Redis, 'info'>): Promise<string | undefined> {
  const policy = POLICY.exec(await redis.info())?.[1]?.trim();
  return policy === undefined || policy === 'noeviction'
    ? undefined
    : `maxmemory-policy is ${policy}: Redis would drop jobs when full. Set it to noeviction in the configuration of that Redis`;
}

/**
 * BullMQ prints a line of its own about that policy for each of its connections, past the log. So it is not told.
 * Returns the same connection.
 */
export function hideEvictionPolicy<T extends Redis>(redis: T): T {
  const info = redis.info.bind(redis);
  const duplicate = redis.duplicate.bind(redis);
  const hiding = {
    // ioredis asks with a callback, to see whether Redis is ready.
    info: async (...asked: []) => (asked.length === 0 ? (await info()).replace(POLICY, '') : info(...asked)),
    duplicate: (...options: Parameters<typeof duplicate>) => hideEvictionPolicy(duplicate(...options)),
  };
  return Object.assign(redis, hiding);
}
