import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { ConfigError } from '../../lib/errors.ts';
import { leaseKey } from '../../state/checkpoints.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { RefusedError } from '../life-store.ts';
import { decideLease } from '../lifecycle.ts';
import { lookAtLock } from './look-at-lock.ts';
import { isRunning, THIS_PLACE } from './this-place.ts';

const HELD_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

/** A key of Redis that one process at a time holds; it expires 15 s after it was renewed. */
export interface HeldKey {
  /** Names the holder. */
  readonly token: string;
  /** False where another process holds the key; one that has expired is held again. */
  renew(): Promise<boolean>;
  /** By a timer: listing a large staging may take longer than the key lasts. */
  keepRenewing(): void;
  release(): Promise<void>;
}

/** Who holds a key, and what for. */
interface Holding {
  readonly key: string;
  /** The migration that is worked on. */
  readonly name: string;
  /** ISO 8601; absent for producers. */
  readonly since?: string;
}

/**
 * Throws RefusedError where another process holds the key; of a process of this machine that was killed it is taken over,
 * of another machine it expires.
 */
export async function holdKey(redis: Redis, { key, name, ...more }: Holding): Promise<HeldKey> {
  const token = randomUUID();
  const self = JSON.stringify({ ...THIS_PLACE, pid: process.pid, token, ...more });
  await takeKey(redis, { key, name }, self);
  let renewing: NodeJS.Timeout | undefined;
  const renew = async () => (await redis.eval(RENEW, 1, key, self, String(HELD_MS))) === 1;
  return {
    token,
    renew,
    keepRenewing() {
      renewing = setInterval(() => void renew().catch(() => {}), RENEW_EVERY_MS).unref();
    },
    async release() {
      clearInterval(renewing);
      ownHoldings.delete(self);
      await redis.eval(RELEASE, 1, key, self);
    },
  };
}

/** Keeps producers of a migration away while `work` runs. Throws RefusedError where one is there: see holdKey. */
export async function whileUnproduced<T>(
  record: MigrationRecord,
  redis: Redis,
  work: () => Promise<T>,
): Promise<T> {
  return whileHeld(leaseKey(record.id), record.name, redis, work);
}

/** The same under a key of its own, for what is done to the migration of that name. */
export async function whileHeld<T>(
  key: string,
  name: string,
  redis: Redis,
  work: () => Promise<T>,
): Promise<T> {
  const held = await holdKey(redis, { key, name, since: new Date().toISOString() });
  held.keepRenewing();
  try {
    return await work();
  } finally {
    await held.release().catch(() => {});
  }
}

/** Since when a key of `whileHeld` is held, ISO 8601; undefined where nobody holds it. */
export async function readHeldSince(redis: Redis, key: string): Promise<string | undefined> {
  const held = await redis.get(key);
  return held === null ? undefined : parseHolder(held, key).since;
}

/** Those of this process. One that has its pid and is not among them is of an earlier process. */
const ownHoldings = new Set<string>();

const RENEW = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

async function takeKey(
  redis: Redis,
  { key, name }: Pick<Holding, 'key' | 'name'>,
  self: string,
): Promise<void> {
  for (;;) {
    if ((await redis.set(key, self, 'PX', HELD_MS, 'NX')) === 'OK') {
      ownHoldings.add(self);
      return;
    }
    const held = await lookAtLock(redis, key, HELD_MS);
    if (held === null) continue;
    const holder = parseHolder(held, key);
    const isAlive = (pid: number) => (pid === process.pid ? ownHoldings.has(held) : isRunning(pid));
    if (decideLease(holder, { ...THIS_PLACE, isAlive }) === 'remove') {
      await redis.eval(RELEASE, 1, key, held); // only this very holding: a new holder may have come
      continue;
    }
    throw new RefusedError(
      'already_running',
      `migration "${name}" is being run by process ${holder.pid} on ${holder.host}; watch it with "backhaul status ${name} --watch", or stop that process first (a lease of a machine that is gone ends by itself after ${HELD_MS / 1_000} s)`,
    );
  }
}

const keyHolder = z.object({
  host: z.string(),
  /** Absent in what earlier versions wrote. */
  pids: z.string().exactOptional(),
  pid: z.number().int().positive(),
  since: z.string().exactOptional(),
});

function parseHolder(held: string, key: string): z.infer<typeof keyHolder> {
  try {
    return keyHolder.parse(JSON.parse(held));
  } catch (error) {
    throw new ConfigError(
      `Redis holds a lease under ${key} that Backhaul did not write; wait ${HELD_MS / 1_000} s for it to end, or delete that key`,
      error,
    );
  }
}
