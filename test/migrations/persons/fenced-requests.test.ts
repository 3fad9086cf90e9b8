import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { type Budget, createUnlimitedBudget } from '../../../src/deliver/budget/budget.ts';
import { createDeliver } from '../../../src/deliver/deliver.ts';
import { FencedOutError } from '../../../src/lib/errors.ts';
import { createLedgerCondition } from '../../../src/migrations/persons/lock/ledger-condition.ts';
import { ledgerLockKey, takeProjectLock } from '../../../src/migrations/persons/lock/ledger-lock.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { startRedis } from '../../support/redis.ts';
import { startStrictDestination } from '../../support/strict-destination.ts';
import { targetEvent, toBatch } from '../../support/target-events.ts';
import { createPersonsBench } from './persons-bench.ts';

const ACCESS = { id: 'of-project', key: 'of-key' };
const toStop: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

/** Turn 1 of a migration that has the ledger, and its sender. */
async function openTurn(wrapBudget: (budget: Budget, loseTo: LoseTo) => Budget = (budget) => budget) {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const destination = await startStrictDestination({ apiKey: 'phc_turn' });
  const take = (id: string, ledger: { readonly id: string; readonly key?: string }) =>
    takeProjectLock(ledger, {
      redis,
      migration: { id, name: id },
      assertRunning: async () => {},
      onWait: () => {},
      signal: new AbortController().signal,
    });
  const lock = await take('one', ACCESS);
  await lock.enterTurn(1);
  /** As whoever finds the producer gone: it removes the locks that are in its way. */
  const loseTo: LoseTo = async (ledger = ACCESS) => {
    for (const name of Object.values(ledger)) await redis.del(ledgerLockKey(name));
    const other = await take('two', ledger);
    await other.enterTurn(2);
    toStop.push(() => other.release());
  };
  const { deliver, close } = createDeliver({
    destination: { url: destination.url, apiKey: 'phc_turn' },
    limits: { requestsInFlight: 1 },
    budget: wrapBudget(createUnlimitedBudget(), loseTo),
    random: () => 0,
    now: () => Date.now(),
    log: pino({ level: 'silent' }),
    clock: createManualClock(),
  });
  toStop.push(
    () => server.stop(),
    async () => redis.disconnect(),
    () => destination.stop(),
    () => lock.release(),
    close,
  );
  const send = (
    condition = createLedgerCondition(redis, ACCESS, { migration: 'one', name: 'one', turn: 1 }),
  ) => deliver(toBatch([targetEvent(1), targetEvent(2)]), new AbortController().signal, condition);
  return { redis, destination, loseTo, send };
}

type LoseTo = (ledger?: { readonly id: string; readonly key?: string }) => Promise<void>;

it('a merge that is tried again after a 429 is not sent once another migration has had its turn', async () => {
  const bench = await createPersonsBench();
  toStop.push(() => bench.close());
  const { destination } = bench;
  let tries = 0;
  let two: Promise<unknown> | undefined;
  destination.overrule(async (_events, text) => {
    if (!/"\$anon_distinct_id":"tablet"/.test(text)) return undefined;
    tries += 1;
    if (tries > 1) return undefined;
    const seen = [
      { user: 'bob', device: 'tablet' },
      { user: 'bob', device: 'phone' },
    ];
    ({ ended: two } = await bench.overtake('two', seen));
    return { status: 429, body: '' };
  });
  const report = await bench.run('one', [{ user: 'alice', device: 'tablet' }]);
  await two;
  expect(tries).toBe(1);
  expect(bench.takeSent().merges).toEqual(['phone → bob']);
  expect(report.people.setAside).toEqual({ contradicted_merge: 1 });
}, 60_000);

it('a batch that is tried again is not sent once its migration has lost the ledger', async () => {
  const { destination, loseTo, send } = await openTurn();
  destination.overrule(async () => {
    await loseTo();
    return { status: 503, body: '' };
  });
  await expect(send()).rejects.toThrow(FencedOutError);
  expect(destination.requests).toHaveLength(1);
});

it('a batch that waited for a permit is not sent once its migration has lost the ledger', async () => {
  const { destination, send } = await openTurn((budget, loseTo) => ({
    ...budget,
    async take(events, signal) {
      await loseTo();
      return budget.take(events, signal);
    },
  }));
  await expect(send()).rejects.toThrow(FencedOutError);
  expect(destination.requests).toEqual([]);
});

it('each half of a batch that was too large asks for the ledger', async () => {
  const { destination, loseTo, send } = await openTurn();
  destination.overrule(async (events) => {
    if (events === 1) return undefined;
    await loseTo();
    return { status: 413, body: '{"type":"validation_error","code":"request_too_large"}' };
  });
  await expect(send()).rejects.toThrow(FencedOutError);
  expect(destination.requests).toHaveLength(1);
});

it('a migration that lost the lock of the project key alone has lost the ledger', async () => {
  const { destination, loseTo, send } = await openTurn();
  expect(await send()).toHaveLength(2);
  await loseTo({ id: ACCESS.key });
  await expect(send()).rejects.toThrow(FencedOutError);
  expect(destination.requests).toHaveLength(1);
});

it.each([
  ['by the monotonic clock', { monotonic: 60_000, wall: 0 }],
  ['by the clock on the wall', { monotonic: 0, wall: 60_000 }],
])('a process that slept over the answer of Redis, %s, asks again before it sends', async (_, slept) => {
  const { redis, destination, loseTo, send } = await openTurn();
  const now = { monotonic: 0, wall: 0 };
  let asked = 0;
  const sleepy = {
    async eval(script: string, keys: number, ...rest: string[]) {
      asked += 1;
      const answer = await redis.eval(script, keys, ...rest);
      if (asked > 1) return answer;
      await loseTo();
      Object.assign(now, slept);
      return answer;
    },
    zrem: (key: string, member: string) => redis.zrem(key, member),
  } as unknown as Redis;
  const clocks = { monotonic: () => now.monotonic, wall: () => now.wall };
  const of = { migration: 'one', name: 'one', turn: 1 };
  await expect(send(createLedgerCondition(sleepy, ACCESS, of, clocks))).rejects.toThrow(FencedOutError);
  expect(asked).toBe(2);
  expect(destination.requests).toEqual([]);
});
