import { setTimeout as timer } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLEAN_STOPS_KEY } from '../../src/contract/redis-keys.ts';
import type { Budget } from '../../src/deliver/budget.ts';
import { createRedisBudget, type RedisBudgetOptions } from '../../src/deliver/redis-budget.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const WINDOW_MS = 2000;
const REQUEST_TIMEOUT_MS = 1500;
const CAP = 1000;
const open = new AbortController().signal;

let server: TestRedis;
let keyNumber = 0;
let toEnd: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
afterEach(async () => {
  for (const end of toEnd.reverse()) await end();
  toEnd = [];
});

const newKey = () => `{bh}:budget:test-${++keyNumber}`;

/** Every budget has a connection of its own, as in a process of its own. */
function budgetOn(
  key: string,
  more: Partial<RedisBudgetOptions> = {},
): Budget & { lines: string[]; redis: Redis } {
  const redis = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  redis.on('error', () => {}); // The test takes the server away on purpose.
  toEnd.push(() => redis.disconnect());
  const lines: string[] = [];
  const budget = createRedisBudget({
    redis,
    key,
    eventsPerMinute: CAP,
    windowMs: WINDOW_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    firstUse: true,
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    ...more,
  });
  return { ...budget, lines, redis };
}

describe('the budget in Redis', () => {
  it('counts a permit until a window after its settling, not after its grant', async () => {
    const budget = budgetOn(newKey(), { eventsPerMinute: 20 });
    const first = await budget.take(20, open);
    await timer(300);
    await first.settle();
    const settledMs = performance.now();
    const second = await budget.take(20, open);
    expect(performance.now() - settledMs).toBeGreaterThanOrEqual(WINDOW_MS - 2);
    await second.settle();
  });

  it('frees the permits of a dead worker when its requests cannot be alive any more', async () => {
    const key = newKey();
    await budgetOn(key, { eventsPerMinute: 20 }).take(20, open);
    const startMs = performance.now();
    await budgetOn(key, { eventsPerMinute: 20 }).take(1, open);
    const waitedMs = performance.now() - startMs;
    expect(waitedMs).toBeGreaterThanOrEqual(WINDOW_MS + REQUEST_TIMEOUT_MS - 20);
    expect(waitedMs).toBeLessThan(WINDOW_MS + REQUEST_TIMEOUT_MS + 1500);
  });

  it('refuses a batch that no window can hold, and takes one that just fits', async () => {
    const budget = budgetOn(newKey(), { eventsPerMinute: 10 });
    await expect(budget.take(11, open)).rejects.toThrow(ConfigError);
    await (await budget.take(10, open)).settle();
    expect(() => budgetOn(newKey(), { eventsPerMinute: 0 })).toThrow(ConfigError);
  });

  it('starts without a wait at the first use, and with a full window where a count should be', async () => {
    const startMs = performance.now();
    await (await budgetOn(newKey(), { firstUse: true }).take(1, open)).settle();
    expect(performance.now() - startMs).toBeLessThan(WINDOW_MS / 2);
    const known = budgetOn(newKey(), { firstUse: false });
    const askedMs = performance.now();
    await (await known.take(1, open)).settle();
    expect(performance.now() - askedMs).toBeGreaterThanOrEqual(WINDOW_MS - 2);
    expect(known.lines.join()).toContain('count of sent events lost');
  });

  it('takes a missing count for a lost one, once others may have sent before its own first use', async () => {
    const key = newKey();
    const idle = budgetOn(key, { firstUse: true });
    const busy = budgetOn(key, { firstUse: true });
    await (await busy.take(1, open)).settle();
    await busy.redis.del(key, `${key}:grants`, `${key}:queue`, `${key}:slow`);
    await timer(WINDOW_MS / 2);
    const askedMs = performance.now();
    await (await idle.take(1, open)).settle();
    expect(performance.now() - askedMs).toBeGreaterThanOrEqual(WINDOW_MS - 2);
    expect(idle.lines.join()).toContain('count of sent events lost');
  });

  it('slows every worker down, the longest request counting', async () => {
    const key = newKey();
    const [one, other] = [budgetOn(key), budgetOn(key)];
    await (await one.take(1, open)).settle();
    await one.slowDown(500);
    await one.slowDown(100);
    const startMs = performance.now();
    await (await other.take(1, open)).settle();
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(480);
  });

  it('gives way when aborted: the place in the queue goes to the next', async () => {
    const key = newKey();
    const [one, other] = [budgetOn(key), budgetOn(key)];
    await (await one.take(CAP, open)).settle();
    const controller = new AbortController();
    const taking = Promise.all([one.take(1, controller.signal), one.take(1, controller.signal)]);
    const next = other.take(1, open);
    controller.abort(new Error('Ctrl-C'));
    await expect(taking).rejects.toThrow('Ctrl-C');
    await (await next).settle();
    await (await one.take(1, open)).settle();
  });

  it('passes over a worker that died while it waited in front', async () => {
    const key = newKey();
    const [one, other] = [budgetOn(key), budgetOn(key)];
    await (await other.take(1, open)).settle();
    await other.slowDown(300);
    const dying = new AbortController();
    const first = one.take(1, dying.signal).catch(() => {});
    while ((await other.redis.zcard(`${key}:queue`)) === 0);
    one.redis.disconnect();
    dying.abort();
    await first;

    const startMs = performance.now();
    await (await other.take(1, open)).settle();
    const waitedMs = performance.now() - startMs;
    expect(waitedMs).toBeGreaterThan(1000);
    expect(waitedMs).toBeLessThan(2500);
  });

  it('goes on at once, with its count, behind a server that was stopped in order', async () => {
    const key = newKey();
    const budget = budgetOn(key, { eventsPerMinute: 20 });
    await (await budget.take(20, open)).settle();
    const spentMs = performance.now();
    const runId = /run_id:(\w+)/.exec(await budget.redis.info('server'))?.[1] ?? '';
    await server.restart();
    const next = budgetOn(key, { eventsPerMinute: 20, firstUse: false });
    await next.redis.zadd(CLEAN_STOPS_KEY, 1, runId, 2, 'a later one that gave no permit');
    toEnd.push(() => next.redis.del(CLEAN_STOPS_KEY));
    await (await next.take(1, open)).settle();
    const waitedMs = performance.now() - spentMs;
    expect(waitedMs).toBeGreaterThanOrEqual(WINDOW_MS - 2); // what was spent before still counts …
    expect(next.lines.join('')).not.toContain('lost'); // … and nobody takes it for lost
  });

  it('waits while Redis is away and never runs free', async () => {
    const budget = budgetOn(newKey());
    await (await budget.take(1, open)).settle();
    await server.kill9();
    let granted = false;
    const taking = budget.take(1, open).then((permit) => {
      granted = true;
      return permit;
    });
    await timer(200);
    expect(granted).toBe(false);
    const aborted = budgetOn(newKey()).take(1, AbortSignal.timeout(50));
    await expect(aborted).rejects.toThrow(/timeout/);
    await server.restart();
    await (await taking).settle();
  });
});
