import type { Redis } from 'ioredis';
import { getMessage } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { joinRedisOutage, type RedisOutage } from '../lib/redis/redis-outage.ts';

/** One that takes connections and answers nothing, or whose network drops what is sent, emits no error. */
const PING_EVERY_MS = 2_000;
/** Counted by the timer and not by a clock: a process that slept asks too late, and was answered. */
const LATE_AFTER_PINGS = 5;
const SILENT = `no answer for more than ${(PING_EVERY_MS * LATE_AFTER_PINGS) / 1_000} s`;

/** Tells whoever listens why Redis cannot be used, and once it can again. */
export interface RedisTrouble extends Pick<RedisOutage, 'watch'> {
  close(): void;
}

export function watchRedisTrouble(redis: Redis, log: Logger): RedisTrouble {
  let missed = 0;
  const isSilent = () => missed >= LATE_AFTER_PINGS;
  const outage = joinRedisOutage(redis, log, isSilent);
  redis.on('error', (error: unknown) => outage.meet(getMessage(error)));

  let isAsking = false;
  const ping = async () => {
    // Of a connection that is lost, errors tell.
    if (redis.status !== 'ready') missed = 0;
    else if (isAsking) {
      missed += 1;
      if (isSilent()) outage.meet(SILENT);
    } else {
      isAsking = true;
      await redis.ping().catch(() => {}); // a refusal is an answer
      isAsking = false;
      missed = 0;
    }
  };
  const pinging = setInterval(() => void ping(), PING_EVERY_MS).unref();

  return {
    watch: outage.watch,
    close() {
      clearInterval(pinging);
      outage.leave();
    },
  };
}
