import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import { createRedisBudget } from '../../src/deliver/budget/redis-budget.ts';
import { UnavailableError } from '../../src/lib/errors.ts';
import { agreeOnCount } from '../../src/migrations/agree-on-count.ts';
import { encodeDocument } from '../../src/state/document.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const KEY = '{bh}:budget:agreed';
const now = () => new Date('2026-01-02T03:04:05Z');
let server: TestRedis;
let redis: Redis;
let folder: string;
let staging: Staging;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
  folder = await mkdtemp(join(tmpdir(), 'backhaul-count-'));
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await redis.flushall();
  staging = createFolderStaging(await mkdtemp(join(folder, 'staging-')));
});

/** How long the first permit takes; a lost count costs a window. */
async function measureFirstPermit(count: string, clock = createVirtualClock()): Promise<number> {
  const log = { info() {}, warn() {} };
  const limits = { eventsPerMinute: 100, requestTimeoutMs: 60_000 };
  const budget = createRedisBudget({ redis, key: KEY, ...limits, count, log, clock });
  return clock.run(async () => {
    const startMs = clock.now();
    await (await budget.take(1, new AbortController().signal)).settle();
    return clock.now() - startMs;
  });
}

describe('processes that send to a destination for the first time', () => {
  it('agree on one count, however many start at once, and none of them waits', async () => {
    const counts = await Promise.all(
      Array.from({ length: 20 }, () => agreeOnCount({ staging, redis, now }, KEY)),
    );
    expect(new Set(counts).size).toBe(1);
    expect(await measureFirstPermit(counts[7] ?? '')).toBe(0);
  });

  it('find a count that was lost since lost, also one that was about to be the first', async () => {
    // It found no mark, and is held up before it begins the count.
    let goOn = () => {};
    const heldUp = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow: Staging = {
      ...staging,
      get: async (key) => {
        const found = await staging.get(key);
        if (!found) await heldUp;
        return found;
      },
    };
    const late = agreeOnCount({ staging: slow, redis, now }, KEY);
    const first = await agreeOnCount({ staging, redis, now }, KEY);
    expect(await measureFirstPermit(first)).toBe(0);
    await redis.flushall();
    goOn();
    expect(await late).toBe(first);
    expect(await measureFirstPermit(first)).toBeGreaterThanOrEqual(60_000);
  });

  it('go on with the count of a staging that was removed', async () => {
    const first = await agreeOnCount({ staging, redis, now }, KEY);
    const emptied = createFolderStaging(await mkdtemp(join(folder, 'staging-')));
    expect(await agreeOnCount({ staging: emptied, redis, now }, KEY)).toBe(first);
  });

  it('take the mark of version 0.1.0 for a count that is not known', async () => {
    await agreeOnCount({ staging, redis, now }, KEY);
    const marks = [];
    for await (const { key } of staging.list('_budgets/')) marks.push(key);
    for (const key of marks) await staging.put(key, encodeDocument({ usedSince: now().toISOString() }));
    const count = await agreeOnCount({ staging, redis, now }, KEY);
    const clock = createVirtualClock();
    expect(await measureFirstPermit(count, clock)).toBeGreaterThanOrEqual(60_000);
    expect(await measureFirstPermit(count, clock)).toBeLessThan(1_000);
  });

  it('wait for a Redis that answers errors', async () => {
    const failing = { eval: () => Promise.reject(new Error('LOADING')) } as unknown as Redis;
    await expect(agreeOnCount({ staging, redis: failing, now }, KEY)).rejects.toThrow(UnavailableError);
    for await (const { key } of staging.list('_budgets/')) throw new Error(`${key} must not be there`);
  });
});
