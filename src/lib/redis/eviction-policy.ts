import type { Redis } from 'ioredis';

const POLICY = /^maxmemory_policy:(.*?)\r?$/m;

/** The policy by which a Redis drops keys when it is full, as a sentence; undefined where it drops none. */
export async function explainEviction(redis: Pick<Redis, 'info'>): Promise<string | undefined> {
  const policy = POLICY.exec(await redis.info())?.[1]?.trim();
  return policy === undefined || policy === 'noeviction'
    ? undefined
    : `maxmemory-policy is ${policy}: Redis would drop jobs when full. Set it to noeviction in the configuration of that Redis`;
}

/** That Redis does not know what it knew, and why where it says so. A statement for the log, without its full stop. */
export async function explainLoss(redis: Pick<Redis, 'info'>): Promise<string> {
  const info = await redis.info().catch(() => '');
  const evicted = Number(/^evicted_keys:(\d+)/m.exec(info)?.[1] ?? 0);
  return evicted === 0
    ? 'Redis lost its memory'
    : `Redis lost what it knew, and has dropped keys since its start because it was full (evicted_keys: ${evicted}): give it more memory, and set its maxmemory-policy to noeviction`;
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
