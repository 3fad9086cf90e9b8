import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRedisCheckpoints, migrationKey } from '../../src/checkpoint/redis-checkpoints.ts';
import type { Checkpoint } from '../../src/contract/progress.ts';
import { FencedOutError } from '../../src/errors.ts';
import { emptyTally } from '../../src/report/tally.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

let server: TestRedis;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const MIGRATION = 'a-migration';
const PART = 'abc/00000';
const at = (position: number): Checkpoint => ({
  part: PART,
  position,
  tally: emptyTally(),
  rejectSegments: [],
});

describe('checkpoints', () => {
  beforeEach(async () => {
    await redis.flushall();
    await redis.hset(migrationKey(MIGRATION), 'epoch', 1);
  });

  it('come back as they were saved, to whoever takes the part over', async () => {
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 1);
    const first = await checkpoints.begin(PART);
    expect(first.checkpoint).toBeUndefined();
    await checkpoints.save(first.fence, at(1_000));
    expect((await checkpoints.begin(PART)).checkpoint).toEqual(at(1_000));
  });

  it('refuse a worker whose part was taken over, and keep what the newer one saved (I5)', async () => {
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 1);
    const zombie = await checkpoints.begin(PART);
    const successor = await checkpoints.begin(PART);
    await checkpoints.save(successor.fence, at(2_000));
    await expect(checkpoints.save(zombie.fence, at(1_000))).rejects.toThrow(FencedOutError);
    await checkpoints.forget(zombie.fence);
    expect((await checkpoints.begin(PART)).checkpoint).toEqual(at(2_000));
  });

  it('refuse every worker of an epoch that is over', async () => {
    const old = createRedisCheckpoints(redis, MIGRATION, 1);
    const { fence } = await old.begin(PART);
    await redis.hset(migrationKey(MIGRATION), 'epoch', 2);
    await expect(old.save(fence, at(1_000))).rejects.toThrow(FencedOutError);
    await expect(old.begin(PART)).rejects.toThrow(FencedOutError);
  });

  it('refuse a zombie of before a wipe even where its counter is reached again', async () => {
    const old = createRedisCheckpoints(redis, MIGRATION, 1);
    const { fence } = await old.begin(PART);
    await redis.flushall();
    await expect(old.save(fence, at(1_000))).rejects.toThrow(FencedOutError);

    await redis.hset(migrationKey(MIGRATION), 'epoch', 2);
    const renewed = createRedisCheckpoints(redis, MIGRATION, 2);
    const successor = await renewed.begin(PART);
    expect(successor.fence.counter).toBe(fence.counter);
    await expect(old.save(fence, at(1_000))).rejects.toThrow(FencedOutError);
    expect(successor.checkpoint).toBeUndefined();
  });

  it('keep what an older epoch had saved, so that a resumed part goes on', async () => {
    const old = createRedisCheckpoints(redis, MIGRATION, 1);
    const { fence } = await old.begin(PART);
    await old.save(fence, at(3_000));
    await redis.hset(migrationKey(MIGRATION), 'epoch', 2);
    expect((await createRedisCheckpoints(redis, MIGRATION, 2).begin(PART)).checkpoint).toEqual(at(3_000));
  });
});
