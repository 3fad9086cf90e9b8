import type { MigrationStore } from './migration-runtime.ts';

/** Clocks that are set right differ by less. */
export const CLOCKS_DIFFER_MS = 5 * 60_000;

/** By how much the clock of this process is ahead of that of Redis, in ms; undefined where no Redis runs. */
export const measureClock = ({ askRedis, now }: Pick<MigrationStore, 'askRedis' | 'now'>) =>
  askRedis(async (redis) => {
    const [seconds] = await redis.time();
    return now().getTime() - Number(seconds) * 1000;
  });
