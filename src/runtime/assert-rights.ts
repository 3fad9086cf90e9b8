import type { Redis } from 'ioredis';
import { ConfigError } from '../lib/errors.ts';
import { classifyReply, explainMissingRight } from '../lib/redis/redis-reply.ts';

/** A key that is never kept, among those that a user is given. */
const NOTHING = '{bh}:rights';

/** What scripts of the queue and of Backhaul run, with arguments by which nothing is changed, or a key that goes at once. */
const IN_SCRIPTS = [
  ...['del', 'get', 'exists', 'pttl', 'persist', 'hgetall', 'llen', 'scard', 'smembers', 'zcard', 'zpopmin'],
  ...['hget x', 'hmget x', 'hexists x', 'hdel x', 'srem x', 'zscore x', 'zrem x', 'lindex 0', 'pexpire 1'],
  ...['lrange 0 0', 'ltrim 0 0', 'zrange 0 0', 'zrevrange 0 0', 'zremrangebyrank 0 0', 'lrem 0 x'],
  ...['zrangebyscore 0 0', 'zrevrangebyscore 0 0', 'zremrangebyscore 0 0', `rpoplpush ${NOTHING}`],
  ...[
    'set x',
    'del',
    'incr',
    'del',
    'lpush x',
    'del',
    'zadd 0 x',
    'del',
    'xadd * x x',
    'xtrim MAXLEN 0',
    'del',
  ],
  ...['hset x x', 'hmset x x', 'hsetnx x x', 'del', 'hincrby x 1', 'del'],
].map((call) => call.split(' '));

/** The first of the commands that the user of the script may not run; false for none. What else fails is no right. */
const FIND_FORBIDDEN = `
for _, call in ipairs(cjson.decode(ARGV[1])) do
  local reply = redis.pcall(call[1], KEYS[1], unpack(call, 2))
  local err = type(reply) == 'table' and reply['err']
  if err and (string.find(err, "can't run this command", 1, true) or string.find(err, 'NOPERM', 1, true) or string.find(err, 'ACL failure', 1, true)) then
    redis.pcall('del', KEYS[1])
    return call[1]
  end
end
return false`;

/**
 * Throws what Redis answers, or a ConfigError, where its user lacks a command that a run needs: most are waited for when
 * they fail, and so would be waited for without an end.
 */
export async function assertRights(
  redis: Pick<Redis, 'time' | 'client' | 'eval' | 'bzpopmin' | 'xread'>,
): Promise<void> {
  try {
    await redis.time();
    await redis.bzpopmin(NOTHING, 0.001);
    await redis.xread('BLOCK', 1, 'STREAMS', NOTHING, '$');
    await redis.client('SETNAME', '');
    const forbidden = await redis.eval(FIND_FORBIDDEN, 1, NOTHING, JSON.stringify(IN_SCRIPTS));
    if (typeof forbidden === 'string') throw new ConfigError(explainForbidden(forbidden));
  } catch (error) {
    if (classifyReply(error) === 'outage') return; // it is waited out, and says nothing of rights
    throw error;
  }
}

const explainForbidden = (command: string): string => explainMissingRight(`it may not run '${command}'`);
