import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Checkpoint } from '../../src/contract/progress.ts';
import { FencedOutError, UnavailableError } from '../../src/lib/errors.ts';
import { emptyTally } from '../../src/pipeline/tally.ts';
import { createRedisCheckpoints, migrationKey } from '../../src/state/checkpoints.ts';
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

  it('restarts a part whose checkpoint this version cannot read', async () => {
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 1);
    await checkpoints.begin(PART);
    for (const stored of ['{"part":', '{"part":1}']) {
      await redis.hset(`${migrationKey(MIGRATION)}:part:${PART}`, 'checkpoint', stored);
      expect((await checkpoints.begin(PART)).checkpoint).toBeUndefined();
    }
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

    await renewed.save(successor.fence, at(2_000));
    await old.forget(fence);
    expect((await renewed.begin(PART)).checkpoint).toEqual(at(2_000));
  });

  it('keep what an older epoch had saved, so that a resumed part continues', async () => {
    const old = createRedisCheckpoints(redis, MIGRATION, 1);
    const { fence } = await old.begin(PART);
    await old.save(fence, at(3_000));
    await redis.hset(migrationKey(MIGRATION), 'epoch', 2);
    expect((await createRedisCheckpoints(redis, MIGRATION, 2).begin(PART)).checkpoint).toEqual(at(3_000));
  });

  it('of a finished part are forgotten, yet no fence of it is ever given out again', async () => {
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 1);
    const { fence } = await checkpoints.begin(PART);
    await checkpoints.save(fence, at(4_000));
    await checkpoints.forget(fence);
    const next = await checkpoints.begin(PART);
    expect(next.checkpoint).toBeUndefined();
    expect(next.fence.counter).toBeGreaterThan(fence.counter);
    await expect(checkpoints.save(fence, at(1_000))).rejects.toThrow(FencedOutError);

    await checkpoints.forget(next.fence);
    const [key = ''] = await redis.keys(`${migrationKey(MIGRATION)}:part:*`);
    const leftMs = await redis.pttl(key);
    expect(leftMs).toBeGreaterThan(29 * 24 * 3600 * 1000);
  });

  it('keep the counter of a finished part that is taken over again for as long as its new worker may hold it', async () => {
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 1);
    await checkpoints.forget((await checkpoints.begin(PART)).fence);
    const [key = ''] = await redis.keys(`${migrationKey(MIGRATION)}:part:*`);
    await redis.pexpire(key, 60_000);
    await checkpoints.begin(PART);
    expect(await redis.pttl(key)).toBeGreaterThan(29 * 24 * 3600 * 1000);
  });

  it('refuse a zombie at every call, one of the same epoch and one of an older epoch (I5)', async () => {
    const first = createRedisCheckpoints(redis, MIGRATION, 1);
    const older = await first.begin(PART);
    await redis.hset(migrationKey(MIGRATION), 'epoch', 2);
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 2);
    const zombie = await checkpoints.begin(PART);
    const holder = await checkpoints.begin(PART);
    await checkpoints.save(holder.fence, at(2_000));

    await expect(first.begin(PART)).rejects.toThrow(FencedOutError);
    for (const { fence } of [older, zombie]) {
      await expect(checkpoints.save(fence, at(1_000))).rejects.toThrow(FencedOutError);
      await checkpoints.forget(fence);
    }
    await checkpoints.save(holder.fence, at(3_000));
    expect((await checkpoints.begin(PART)).checkpoint).toEqual(at(3_000));
  });

  it('leave a part that is being worked on without an expiry', async () => {
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 1);
    const { fence } = await checkpoints.begin(PART);
    await checkpoints.save(fence, at(1));
    const [key = ''] = await redis.keys(`${migrationKey(MIGRATION)}:part:*`);
    expect(await redis.pttl(key)).toBe(-1);
  });

  it.each([
    {
      when: 'it has become a replica',
      says: /READONLY/,
      breaking: 'REPLICAOF 127.0.0.1 1',
      mending: 'REPLICAOF NO ONE',
    },
    {
      when: 'it is out of memory',
      says: /OOM/,
      breaking: 'CONFIG SET maxmemory 1',
      mending: 'CONFIG SET maxmemory 0',
    },
  ])('say that Redis is not available when $when', async ({ says, breaking, mending }) => {
    const tell = (line: string) => {
      const [command = '', ...values] = line.split(' ');
      return redis.call(command, ...values);
    };
    const checkpoints = createRedisCheckpoints(redis, MIGRATION, 1);
    const { fence } = await checkpoints.begin(PART);
    await checkpoints.save(fence, at(5_000));
    const attempts: (() => Promise<unknown>)[] = [
      () => checkpoints.begin(PART),
      () => checkpoints.save(fence, at(6_000)),
    ];
    // Forgetting frees memory, so a Redis that has none left does it all the same.
    if (says.source === 'READONLY') attempts.push(() => checkpoints.forget(fence));

    await tell(breaking);
    const errors = await Promise.all(attempts.map((attempt) => attempt().catch((error: unknown) => error)));
    await tell(mending);
    for (const error of errors) {
      expect(error).toBeInstanceOf(UnavailableError);
      expect(String(error)).toMatch(says);
    }
    expect((await checkpoints.begin(PART)).checkpoint).toEqual(at(5_000));
  });
});
