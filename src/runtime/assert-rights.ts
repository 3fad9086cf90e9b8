import type { Redis } from 'ioredis';
import { ConfigError, getMessage } from '../lib/errors.ts';
import { classifyReply } from '../lib/redis/redis-reply.ts';

/** A key that is never written, among those that a user is given. */
const NOTHING = '{bh}:rights';

/**
 * Throws ConfigError where the user of a Redis lacks a command that is waited for when it fails, and so would be waited
 * for without an end. Any other one ends a run when it is first used.
 */
export async function assertRights(redis: Pick<Redis, 'time' | 'bzpopmin' | 'xread'>): Promise<void> {
  try {
    await redis.time();
    await redis.bzpopmin(NOTHING, 0.001);
    await redis.xread('BLOCK', 1, 'STREAMS', NOTHING, '$');
  } catch (error) {
    if (classifyReply(error) !== 'refusal') throw error;
    throw new ConfigError(
      `The user of REDIS_URL lacks a right (${getMessage(error)}). Give it all commands, on keys that begin with {bh}, and all channels, then run the command again`,
      error,
    );
  }
}
