import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { FencedOutError, UnavailableError } from '../../../src/lib/errors.ts';
import { watchStanding } from '../../../src/migrations/run/standing.ts';
import { migrationKey } from '../../../src/state/checkpoints.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';

const signal = new AbortController().signal;
let server: TestRedis;
let redis: Redis;
let now: { monotonic: number; wall: number };
const watch = (epoch: number) =>
  watchStanding(redis, { id: 'm', epoch }, { monotonic: () => now.monotonic, wall: () => now.wall });

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(async () => {
  now = { monotonic: 0, wall: 0 };
  await redis.flushall();
  await redis.hset(migrationKey('m'), 'epoch', 2, 'control', 'running');
});

it('knows how a migration stands for some seconds after it has asked', async () => {
  const standing = watch(2);
  expect(standing.isKnown()).toBe(false);
  await standing.assert(signal);
  expect(standing.isKnown()).toBe(true);
  now.monotonic = now.wall = 9_000;
  expect(standing.isKnown()).toBe(true);
  now.monotonic = now.wall = 11_000;
  expect(standing.isKnown()).toBe(false);
});

it('knows by either clock that it slept: one stands still while the machine does', async () => {
  const standing = watch(2);
  await standing.assert(signal);
  now.wall = 11_000;
  expect(standing.isKnown()).toBe(false);
  now.wall = -11_000;
  expect(standing.isKnown()).toBe(false);
});

it.each(['paused', 'cancelled', 'stopped', 'removed'])(
  'ends what would send for one that is %s',
  async (state) => {
    const standing = watch(2);
    await redis.hset(migrationKey('m'), 'control', state);
    await expect(standing.assert(signal)).rejects.toThrow(FencedOutError);
    expect(standing.isKnown()).toBe(false);
    expect(await standing.look()).toBe(`the migration is ${state}`);
  },
);

it('ends what would send in an epoch that is over', async () => {
  await expect(watch(1).assert(signal)).rejects.toThrow('epoch 1 is over');
});

it('leaves it to the producer where Redis has forgotten the migration', async () => {
  await redis.flushall();
  await expect(watch(2).assert(signal)).resolves.toBeUndefined();
});

it('has the job tried again later where Redis answers an error, which may pass', async () => {
  await redis.acl('SETUSER', 'default', '-hmget');
  try {
    await expect(watch(2).assert(signal)).rejects.toThrow(UnavailableError);
  } finally {
    await redis.acl('SETUSER', 'default', '+@all');
  }
  await expect(watch(2).assert(signal)).resolves.toBeUndefined();
});
