import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Budget, listRedisBudgetKeys, type RenewingBudget } from '../../../src/deliver/budget/budget.ts';
import { COMBINED_DELAY_MS, combineBudgets } from '../../../src/deliver/budget/combined-budget.ts';
import { createRedisBudget, openCount } from '../../../src/deliver/budget/redis-budget.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { type Arrival, mostInAnyWindow } from '../../support/strict-destination.ts';
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

/** A real Redis; the time is the test's own, so that a window takes no minute. */
const WINDOW_MS = 60_000;
const CAP = 1000;
const EVENTS = 20;
const LATENCY_MS = 400;
const open = new AbortController().signal;

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: null });
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

type Process = readonly [apiKey: string, project: string | undefined, service?: string];

let run = 0;
/** One process of a migration, by its key and project. */
async function openProcess(
  clock: VirtualClock,
  apiKey: string,
  project: string | undefined,
  service?: string,
): Promise<Budget> {
  // Who declares a service has another host name.
  const host = `run-${run}.test`;
  const url = `http://${service === undefined ? '' : 'ingest.'}${host}`;
  const keys = listRedisBudgetKeys({ url, apiKey, project, service: service && host });
  const budgets: RenewingBudget[] = [];
  for (const key of keys)
    budgets.push(
      createRedisBudget({
        ...{ redis, key, clock },
        eventsPerMinute: CAP,
        requestTimeoutMs: 48_000 + COMBINED_DELAY_MS,
        count: await openCount(redis, key),
        log: pino({ level: 'silent' }),
      }),
    );
  return combineBudgets(budgets, clock);
}

/** Sends as much as it may, from a moment to another. */
const send = (
  clock: VirtualClock,
  budget: Budget,
  fromMs: number,
  untilMs: number,
  arrivals: Arrival[],
  events = EVENTS,
) =>
  clock.run(async () => {
    await clock.wait(fromMs - clock.now());
    while (clock.now() < untilMs) {
      const permit = await budget.take(events, open);
      await clock.wait(LATENCY_MS);
      arrivals.push({ atMs: clock.now(), events });
      await permit.settle();
    }
  });

const ROUNDS: readonly (readonly [what: string, first: Process, second: Process])[] = [
  ['a new key of a named project', ['old', 'shop'], ['new', 'shop']],
  ['a migration that names no project beside one that does', ['old', 'shop'], ['old', undefined]],
  ['a worker that has the former key still', ['new', 'shop'], ['old', 'shop']],
  ['another host name of the service', ['old', 'shop'], ['old', 'shop', 'declared']],
];

it.each(ROUNDS)('%s begins no budget of its own', async (_, first, second) => {
  run += 1;
  const clock = createVirtualClock();
  const startMs = clock.now();
  const arrivals: Arrival[] = [];
  const [one, other] = [await openProcess(clock, ...first), await openProcess(clock, ...second)];
  await Promise.all([
    send(clock, one, startMs, startMs + 2 * WINDOW_MS, arrivals),
    send(clock, other, startMs + WINDOW_MS, startMs + 4 * WINDOW_MS, arrivals),
  ]);
  arrivals.sort((a, b) => a.atMs - b.atMs);
  expect(mostInAnyWindow(arrivals, WINDOW_MS)).toBeLessThanOrEqual(CAP);
  const sum = arrivals.reduce((total, { events }) => total + events, 0);
  expect(sum).toBeGreaterThan(0.85 * 4 * CAP);
});

it.each([2, 4, 8])('uses all of it with %i workers after a migration without a project', async (workers) => {
  run += 1;
  const clock = createVirtualClock();
  const startMs = clock.now();
  const arrivals: Arrival[] = [];
  const before = await openProcess(clock, 'old', undefined);
  const fleet: Budget[] = [];
  for (let worker = 0; worker < workers; worker += 1) fleet.push(await openProcess(clock, 'old', 'shop'));
  // The largest permits, which are 3 s apart: those of the two budgets are never granted at one moment.
  const most = fleet[0]?.eventsPerPermit;
  await Promise.all([
    send(clock, before, startMs, startMs + 21_500, [], most),
    ...fleet.map((worker) => send(clock, worker, startMs + 20_000, startMs + 4 * WINDOW_MS, arrivals, most)),
  ]);
  const later = arrivals.filter(({ atMs }) => atMs > startMs + 2 * WINDOW_MS);
  const sum = later.reduce((total, { events }) => total + events, 0);
  expect(sum).toBeGreaterThan(0.9 * 2 * CAP);
});

it.each([
  [true, ['take a', 'take b', 'renew a']],
  [false, ['take a', 'take b', 'renew a', 'settle a', 'take a']],
])('renews a permit that waiting for the other one has made old: %s', async (isRenewed, expected) => {
  const clock = createVirtualClock();
  const calls: string[] = [];
  const budget = (name: string, waitMs: number): RenewingBudget => ({
    eventsPerPermit: 50,
    async take() {
      calls.push(`take ${name}`);
      await clock.wait(waitMs);
      return {
        settle: async () => void calls.push(`settle ${name}`),
        async renew() {
          calls.push(`renew ${name}`);
          return isRenewed;
        },
      };
    },
    slowDown: async () => void calls.push(`slow ${name}`),
  });
  await clock.run(async () => {
    const both = combineBudgets([budget('a', 0), budget('b', 5_000)], clock);
    const permit = await both.take(1, open);
    expect(calls.splice(0)).toEqual(expected);
    await permit.settle();
    await both.slowDown(1);
    expect(calls).toEqual(['settle a', 'settle b', 'slow a', 'slow b']);
  });
});

it('gives back what it has when the wait for the other one ends in an error', async () => {
  let settled = 0;
  const one: RenewingBudget = {
    eventsPerPermit: 1,
    take: async () => ({
      renew: async () => true,
      async settle() {
        settled += 1;
      },
    }),
    slowDown: async () => {},
  };
  const other: RenewingBudget = { ...one, take: () => Promise.reject(new Error('aborted')) };
  await expect(combineBudgets([one, other]).take(1, open)).rejects.toThrow('aborted');
  expect(settled).toBe(1);
});
