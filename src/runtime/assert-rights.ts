import type { Redis } from 'ioredis';

/** A key that is never written, among those that a user is given. */
const NOTHING = '{bh}:rights';

/**
 * Throws what Redis answers where its user lacks a command that is waited for when it fails, and so would be waited for
 * without an end. Any other one ends a run when it is first used.
 */
export async function assertRights(redis: Pick<Redis, 'time' | 'bzpopmin' | 'xread'>): Promise<void> {
  await redis.time();
  await redis.bzpopmin(NOTHING, 0.001);
  await redis.xread('BLOCK', 1, 'STREAMS', NOTHING, '$');
}
