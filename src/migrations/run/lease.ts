import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError, FencedOutError } from '../../lib/errors.ts';
import { migrationKey } from '../../state/checkpoints.ts';
import { loadControl, type MigrationRecord, openEpoch, saveControl } from '../../state/migrations.ts';

const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

/** Redis lost the migration's state: it must be taken up anew (I4). */
export class RedisWipedError extends Error {}

/** The operator paused or cancelled the migration while it ran. */
export class ControlError extends Error {
  readonly state: 'paused' | 'cancelled';
  constructor(state: 'paused' | 'cancelled') {
    super(`the migration was ${state}`);
    this.state = state;
  }
}

/** The producer's hold on a migration: one process drives it at a time. */
export interface TakenUp {
  readonly epoch: number;
  /** Throws when the run must end; called about once a second. */
  assertRunning(): Promise<void>;
  /** Throws when staging says that the migration is paused or cancelled. */
  assertWanted(): Promise<void>;
  release(): Promise<void>;
}

export const leaseKey = (id: string) => `${migrationKey(id)}:producer`;

const SET_EPOCH = `
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if epoch >= tonumber(ARGV[1]) then return epoch end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'control', 'running')
return 0`;

const RENEW = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * Opens a new epoch in staging and puts it in force in Redis: every job and writer of an older epoch
 * is fenced out from here on (I5).
 */
export async function acquireLease(
  record: MigrationRecord,
  opening: { readonly manifest: unknown; readonly baseDir: string },
  { staging, redis, now }: { staging: Staging; redis: Redis; now: () => Date },
): Promise<TakenUp> {
  const key = migrationKey(record.id);
  const me = JSON.stringify({ host: hostname(), pid: process.pid, token: randomUUID() });
  await takeLease(redis, record, me);

  const open = (above: number) =>
    openEpoch(staging, record.name, { openedAt: now().toISOString(), ...opening }, above);
  let epoch = await open(0);
  await saveControl(staging, record.name, { state: 'running', reason: '', at: now().toISOString() });
  // Redis may remember more epochs than staging, where its folder was removed: go above them.
  for (let known = 1; known !== 0; ) {
    known = Number(await redis.eval(SET_EPOCH, 1, key, String(epoch)));
    if (known !== 0) epoch = await open(known);
  }

  const renew = () => redis.eval(RENEW, 1, leaseKey(record.id), me, String(LEASE_MS));
  // By a timer: listing a large staging may take longer than a lease lasts.
  const renewing = setInterval(() => void renew().catch(() => {}), RENEW_EVERY_MS).unref();

  return {
    epoch,
    async assertRunning() {
      const [current, control] = await redis.hmget(key, 'epoch', 'control');
      if (current === null) throw new RedisWipedError('Redis lost the state of the migration');
      if (Number(current) > epoch) {
        throw new FencedOutError(
          'another process has taken this migration up; this one stops, nothing is lost',
        );
      }
      if (control === 'paused' || control === 'cancelled') throw new ControlError(control);
      if ((await renew()) !== 1) {
        throw new FencedOutError('another process drives this migration; this one stops, nothing is lost');
      }
    },
    async assertWanted() {
      const control = await loadControl(staging, record.name);
      if (control?.state === 'paused' || control?.state === 'cancelled')
        throw new ControlError(control.state);
    },
    async release() {
      clearInterval(renewing);
      await redis.eval(RELEASE, 1, leaseKey(record.id), me);
    },
  };
}

async function takeLease(redis: Redis, record: MigrationRecord, me: string): Promise<void> {
  const key = leaseKey(record.id);
  for (;;) {
    if ((await redis.set(key, me, 'PX', LEASE_MS, 'NX')) === 'OK') return;
    const held = await redis.get(key);
    if (held === null) continue;
    const holder = JSON.parse(held) as { host: string; pid: number };
    if (holder.host === hostname() && !isAlive(holder.pid)) {
      await redis.eval(RELEASE, 1, key, held); // its process is gone; only this very lease is removed
      continue;
    }
    throw new ConfigError(
      `migration "${record.name}" is being run by process ${holder.pid} on ${holder.host}; watch it with "backhaul status ${record.name} --watch", or stop that process first (a lease of a machine that is gone ends by itself after ${LEASE_MS / 1_000} s)`,
    );
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
