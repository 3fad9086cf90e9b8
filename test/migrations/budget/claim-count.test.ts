import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { createRedisBudget } from '../../../src/deliver/redis-budget.ts';
import { PausedError } from '../../../src/lib/errors.ts';
import { agreeOnCount } from '../../../src/migrations/budget/agree-on-count.ts';
import { claimCount } from '../../../src/migrations/budget/claim-count.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const KEY = '{bh}:budget:claimed';
const CAP = 600;
const PERMIT = 30;
const WINDOW_MS = 60_000;
let servers: TestRedis[];
let first: Redis;
let second: Redis;
let folder: string;
let staging: Staging;
let clock: VirtualClock;

beforeAll(async () => {
  servers = await Promise.all([startRedis(), startRedis()]);
  [first, second] = servers.map(({ url }) => new Redis(url)) as [Redis, Redis];
  folder = await mkdtemp(join(tmpdir(), 'backhaul-claim-'));
});
afterAll(async () => {
  first?.disconnect();
  second?.disconnect();
  await Promise.all((servers ?? []).map((server) => server.stop()));
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await Promise.all([first.flushall(), second.flushall()]);
  staging = createFolderStaging(await mkdtemp(join(folder, 'staging-')));
  clock = createVirtualClock();
  sent = [];
});

/** When each event was sent, by whomever. */
let sent: number[];

/** A process that sends through one Redis, and what it is stopped by. */
async function startSender(redis: Redis) {
  const count = await agreeOnCount({ staging, redis, now: () => new Date(0) }, KEY);
  const claim = claimCount({ staging, redis, clock }, KEY);
  const log = { info() {}, warn() {} };
  const limits = { eventsPerMinute: CAP, requestTimeoutMs: WINDOW_MS };
  const budget = createRedisBudget({ redis, key: KEY, ...limits, count, claim, log, clock });
  return async (permits: number): Promise<number> => {
    const startMs = clock.now();
    for (let left = permits; left > 0; left -= 1) {
      const permit = await budget.take(PERMIT, new AbortController().signal);
      for (let event = 0; event < PERMIT; event += 1) sent.push(clock.now());
      await permit.settle();
    }
    return clock.now() - startMs;
  };
}

function countFullestWindow(): number {
  const times = sent.toSorted((a, b) => a - b);
  let from = 0;
  return Math.max(
    ...times.map((atMs, index) => {
      while ((times[from] ?? 0) <= atMs - WINDOW_MS) from += 1;
      return index - from + 1;
    }),
  );
}

const sleep = (ms: number) => clock.wait(ms);

it('lets one of two Redis that count at the same time send, and pauses the other with what to do', async () => {
  const one = await startSender(first);
  const other = await startSender(second);
  const ends = await Promise.allSettled([
    clock.run(() => one(100)),
    clock.run(async () => {
      await sleep(5_000);
      return other(100);
    }),
  ]);
  expect(ends[0]?.status).toBe('fulfilled');
  expect(ends[1]).toMatchObject({ reason: expect.any(PausedError) });
  expect(String(Reflect.get(ends[1] ?? {}, 'reason'))).toContain('the same REDIS_URL');
  expect(sent).toHaveLength(100 * PERMIT);
  expect(countFullestWindow()).toBeLessThanOrEqual(CAP);
});

it('goes on with another Redis a window after the last event of the one before, and never sends more than the cap', async () => {
  const one = await startSender(first);
  const other = await startSender(second);
  expect(await clock.run(() => one(5))).toBeLessThan(20_000);
  const takenMs = await clock.run(() => other(1));
  expect(takenMs).toBeGreaterThanOrEqual(WINDOW_MS);
  expect(takenMs).toBeLessThan(WINDOW_MS + 20_000);
  await clock.run(() => other(30));
  expect(countFullestWindow()).toBeLessThanOrEqual(CAP);
});

it('waits a window and little more after the Redis lost its memory, in every process', async () => {
  const senders = await Promise.all([startSender(first), startSender(first), startSender(first)]);
  await Promise.all(senders.map((send) => clock.run(() => send(2))));
  await first.flushall();
  const waits = await Promise.all(senders.map((send) => clock.run(() => send(1))));
  for (const waitedMs of waits) {
    expect(waitedMs).toBeGreaterThanOrEqual(WINDOW_MS);
    expect(waitedMs).toBeLessThan(WINDOW_MS + 30_000);
  }
  expect(await clock.run(() => (senders[0] as (typeof senders)[0])(1))).toBeLessThan(10_000);
});

it('pauses a process that rested while another Redis took over', async () => {
  const one = await startSender(first);
  const other = await startSender(second);
  await clock.run(() => one(2));
  const late = clock.run(async () => {
    await sleep(4 * WINDOW_MS);
    return one(1);
  });
  await Promise.all([
    expect(late).rejects.toThrow(PausedError),
    expect(clock.run(() => other(120))).resolves.toBeGreaterThan(5 * WINDOW_MS),
  ]);
  expect(countFullestWindow()).toBeLessThanOrEqual(CAP);
});

it('lets no process wait whose Redis is the one that counts', async () => {
  await clock.run(await startSender(first).then((send) => () => send(1)));
  const again = await startSender(first);
  expect(await clock.run(() => again(1))).toBeLessThan(4_000);
});
