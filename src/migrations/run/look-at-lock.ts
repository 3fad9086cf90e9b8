import type { Redis } from 'ioredis';

/**
 * What a lock that was taken for `lockMs` holds. Its end is a time of the clock of Redis: where that clock is set
 * back, the lock of a machine that is gone would stay as long as the step, so here it gets no longer than `lockMs`.
 */
export async function lookAtLock(redis: Redis, key: string, lockMs: number): Promise<string | null> {
  const held = await redis.eval(LOOK, 1, key, lockMs);
  return held === null ? null : String(held);
}

const LOOK = `
local held = redis.call('GET', KEYS[1])
if not held then return false end
if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return held`;
