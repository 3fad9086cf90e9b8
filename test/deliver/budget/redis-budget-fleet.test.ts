import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRASH_LOSES_MS, CRASHES_KEY } from '../../../src/contract/redis-keys.ts';
import { createRedisBudget, openCount } from '../../../src/deliver/budget/redis-budget.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { createRandom } from '../../support/seeded-random.ts';
import { type Arrival, mostInAnyWindow } from '../../support/strict-destination.ts';
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

/** Workers that share one budget through a real Redis, minutes of their time in a moment of ours. */
const WINDOW_MS = 60_000;
const CAP = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const WORKERS = [1, 2, 3];
const NEVER = new AbortController().signal;
const silent = { info() {}, warn() {} };

let server: TestRedis;
let redis: Redis;
let keyNumber = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

interface Sent extends Arrival {
  readonly worker: number;
}

/** Every worker sends as much as it is permitted; requests take `latencyMs`. */
async function simulate(
  latencyMs: number,
  { minutes, disturb }: { minutes: number; disturb?: (key: string, clock: VirtualClock) => Promise<void> },
): Promise<{ arrivals: Sent[]; startMs: number }> {
  const clock = createVirtualClock();
  const key = `{bh}:budget:fleet-${++keyNumber}`;
  const count = await openCount(redis, key);
  const startMs = clock.now();
  const endMs = startMs + minutes * WINDOW_MS;
  const arrivals: Sent[] = [];
  const open: Promise<void>[] = [];

  const work = async (worker: number) => {
    const random = createRandom(worker);
    const budget = createRedisBudget({
      redis,
      key,
      eventsPerMinute: CAP,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      count,
      log: silent,
      clock,
    });
    while (clock.now() < endMs) {
      const events = random() < 0.8 ? budget.eventsPerPermit : Math.ceil(random() * budget.eventsPerPermit);
      const permit = await budget.take(events, NEVER);
      open.push(
        clock.run(async () => {
          const travelMs = latencyMs * (0.2 + 0.8 * random());
          await clock.wait(travelMs);
          arrivals.push({ worker, events, atMs: clock.now() });
          await clock.wait(latencyMs - travelMs);
          await permit.settle();
        }),
      );
    }
  };
  const actors = WORKERS.map((worker) => clock.run(() => work(worker)));
  if (disturb) actors.push(clock.run(() => disturb(key, clock)));
  await Promise.all(actors);
  await Promise.all(open);
  return { arrivals, startMs };
}

const countBetween = (arrivals: readonly Arrival[], fromMs: number, toMs: number) =>
  arrivals.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reduce((sum, { events }) => sum + events, 0);

describe('a fleet that shares one budget', () => {
  it.each([
    ['quick', 5, 0.95],
    ['slow', 3_000, 0.9],
    ['nearly dead', 40_000, 0.5],
  ])(
    'uses it well, evenly and fairly, and never exceeds it (%s destination)',
    async (_name, latencyMs, use) => {
      const minutes = 10;
      const { arrivals, startMs } = await simulate(latencyMs, { minutes });
      expect(mostInAnyWindow(arrivals, WINDOW_MS)).toBeLessThanOrEqual(CAP);
      // No fifth of a window takes more than two fifths of the budget.
      if (latencyMs < WINDOW_MS / 10)
        expect(mostInAnyWindow(arrivals, WINDOW_MS / 5)).toBeLessThanOrEqual(0.4 * CAP);
      const used = countBetween(arrivals, startMs + WINDOW_MS, startMs + minutes * WINDOW_MS);
      expect(used).toBeGreaterThanOrEqual(use * CAP * (minutes - 1));
      const shares = WORKERS.map((worker) =>
        countBetween(
          arrivals.filter((each) => each.worker === worker),
          0,
          Number.POSITIVE_INFINITY,
        ),
      );
      expect(Math.min(...shares)).toBeGreaterThan(0.25 * countBetween(arrivals, 0, Number.POSITIVE_INFINITY));
    },
  );

  it('waits a full window when Redis is wiped under way, then continues within the cap', async () => {
    let wipedMs = 0;
    const { arrivals, startMs } = await simulate(200, {
      minutes: 5,
      async disturb(key, clock) {
        await clock.wait(1.5 * WINDOW_MS);
        await redis.del(key, `${key}:grants`, `${key}:queue`, `${key}:slow`);
        wipedMs = clock.now();
      },
    });
    expect(mostInAnyWindow(arrivals, WINDOW_MS)).toBeLessThanOrEqual(CAP);
    expect(countBetween(arrivals, startMs, wipedMs)).toBeGreaterThan(CAP);
    // What had its permit already may still arrive; after that, nothing for a window.
    expect(countBetween(arrivals, wipedMs + 1_000, wipedMs + WINDOW_MS)).toBe(0);
    expect(countBetween(arrivals, wipedMs + WINDOW_MS, wipedMs + 3 * WINDOW_MS)).toBeGreaterThan(CAP);
  });

  it('continues at once after crashes that lost the last writes, within the cap', async () => {
    const crashesMs: number[] = [];
    const { arrivals } = await simulate(200, {
      minutes: 8,
      async disturb(key, clock) {
        for (const afterMs of [1.1, 0.2, 1.7, 0.05].map((windows) => windows * WINDOW_MS)) {
          await clock.wait(afterMs);
          const before = await copyOf([key, `${key}:grants`]);
          await clock.wait(CRASH_LOSES_MS);
          await restore(before);
          crashesMs.push(clock.now());
          await redis.hset(key, 'server', `crashed ${crashesMs.length}`);
          await redis.zadd(CRASHES_KEY, crashesMs.length, `crashed ${crashesMs.length}`);
        }
      },
    });
    await redis.del(CRASHES_KEY);
    expect(mostInAnyWindow(arrivals, WINDOW_MS)).toBeLessThanOrEqual(CAP);
    const [first = 0] = crashesMs;
    expect(countBetween(arrivals, first, first + WINDOW_MS / 4)).toBeGreaterThan(0);
    expect(countBetween(arrivals, first, first + 6 * WINDOW_MS)).toBeGreaterThan(2 * CAP);
  });
});

async function copyOf(keys: readonly string[]): Promise<Map<string, Buffer>> {
  const copies = new Map<string, Buffer>();
  for (const key of keys) copies.set(key, (await redis.dumpBuffer(key)) ?? Buffer.alloc(0));
  return copies;
}

async function restore(copies: ReadonlyMap<string, Buffer>): Promise<void> {
  const pipeline = redis.multi();
  for (const [key, copy] of copies) pipeline.restore(key, 0, copy, 'REPLACE');
  await pipeline.exec();
}
