import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { REQUEST_TIMEOUT_MS } from '../../../src/contract/delivery.ts';
import {
  findLast,
  noteRequest,
  noteTurn,
  type TurnOf,
  waitForWire,
} from '../../../src/migrations/persons/lock/on-wire.ts';
import { startRedis } from '../../support/redis.ts';
import { createPersonsBench } from './persons-bench.ts';

const toStop: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

const ACCESS = { id: 'of-project', key: 'of-key' };
const toTurn = (migration: string, turn: number): TurnOf => ({ migration, name: migration, turn });

async function openRedis(): Promise<Redis> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  toStop.push(
    () => server.stop(),
    async () => redis.disconnect(),
  );
  return redis;
}

/** Waits as a turn does whose clocks go on by what it waits; `onLook`: while it waits. */
async function waitAs(redis: Redis, of: TurnOf, ledger = ACCESS, onLook: () => unknown = () => {}) {
  let waitedMs = 0;
  let told: { readonly name: string; readonly leftMs: number } | undefined;
  const startMs = Date.now();
  await waitForWire(ledger, of, {
    redis,
    signal: new AbortController().signal,
    onWait: ({ name }, until) => {
      told = { name, leftMs: until - startMs };
    },
    assertRunning: async () => void (await onLook()),
    clocks: {
      monotonic: () => waitedMs,
      wall: () => startMs + waitedMs,
      async wait(ms) {
        waitedMs += ms;
      },
    },
  });
  return { waitedMs, told };
}

/** The migration whose request is held by the destination loses the ledger to another one. */
it('a value that is on the wire when its migration loses the ledger arrives before the newer one of the next', async () => {
  const bench = await createPersonsBench();
  toStop.push(() => bench.close());
  const { destination } = bench;
  const people = { overwrite: true };
  const newer = [{ user: 'ada', plan: 'new', time: '2023-01-01T00:00:00Z' }];
  let two: Promise<unknown> | undefined;
  destination.overrule(async (_events, text) => {
    if (two || !text.includes('"plan":"old"') || !text.includes('$identify')) return undefined;
    ({ ended: two } = await bench.overtake('two', newer, { people }));
    return undefined;
  });
  await bench.run('one', [{ user: 'ada', plan: 'old', time: '2021-01-01T00:00:00Z' }], { people });
  await two;
  const plans = bench.takeSent().properties;
  expect(plans).toHaveLength(2);
  const arrived = [...destination.events().values()].flatMap(({ event, properties }) =>
    event === '$identify' ? [JSON.stringify(properties['$set'])] : [],
  );
  expect(arrived).toEqual(['{"plan":"old"}', '{"plan":"new"}']);
}, 60_000);

it('a turn waits for the request of another one until it is answered, and says whose it is', async () => {
  const redis = await openRedis();
  const { locks, end } = await noteRequest(redis, ACCESS, toTurn('one', 1));
  expect(locks).toEqual([null, null]);
  let looks = 0;
  const { told, waitedMs } = await waitAs(redis, toTurn('two', 2), ACCESS, async () => {
    looks += 1;
    if (looks === 3) end();
  });
  expect(told?.name).toBe('one');
  expect(told?.leftMs).toBeGreaterThan(REQUEST_TIMEOUT_MS - 10_000);
  expect(waitedMs).toBe(3 * 250);
});

it('a request that is never answered is waited for as long as it may arrive, under either key of the project', async () => {
  const redis = await openRedis();
  await noteRequest(redis, ACCESS, toTurn('one', 1));
  for (const ledger of [ACCESS, { id: ACCESS.key, key: ACCESS.key }, { id: ACCESS.id, key: 'rotated' }]) {
    const { waitedMs } = await waitAs(redis, toTurn('two', 2), ledger);
    expect(waitedMs).toBeGreaterThan(REQUEST_TIMEOUT_MS - 10_000);
    expect(waitedMs).toBeLessThanOrEqual(REQUEST_TIMEOUT_MS);
  }
});

it('whoever continues a turn waits for no request of it', async () => {
  const redis = await openRedis();
  await noteRequest(redis, ACCESS, toTurn('one', 1));
  expect(await waitAs(redis, toTurn('one', 1))).toEqual({ waitedMs: 0, told: undefined });
  // The next turn of the same migration decides again.
  expect((await waitAs(redis, toTurn('one', 2))).waitedMs).toBeGreaterThan(0);
});

it.each([
  ['both clocks went on', { redisMs: 20_000, wallMs: 20_000 }, 40_000],
  ['the clock of Redis was set forward', { redisMs: 3_600_000, wallMs: 20_000 }, 40_000],
  ['the clock of the machine was set forward', { redisMs: 20_000, wallMs: 3_600_000 }, 40_000],
  ['a clock was set back', { redisMs: -3_600_000, wallMs: 20_000 }, 60_000],
  ['it is too old', { redisMs: 60_000, wallMs: 60_001 }, undefined],
])('how long a request may still arrive is known where %s', (_, now, leftMs) => {
  const one = { ...toTurn('one', 1), redisMs: 0, wallMs: 0 };
  const earlier = { ...toTurn('none', 1), redisMs: -50_000, wallMs: -50_000 };
  expect(findLast([earlier, one, earlier], now)?.leftMs).toBe(leftMs);
});

it('where Redis lost its memory, a request of the turn that did not end may be on the wire', async () => {
  const redis = await openRedis();
  await noteTurn(redis, ACCESS, 1, undefined);
  await noteTurn(redis, ACCESS, 2, toTurn('one', 1));
  expect((await waitAs(redis, toTurn('two', 2))).waitedMs).toBe(0);
  await redis.flushall();
  // Its own migration continues it, which others must not take for a proof.
  await noteTurn(redis, ACCESS, 2, toTurn('two', 2));
  expect((await waitAs(redis, toTurn('two', 2))).waitedMs).toBe(0);
  await noteTurn(redis, ACCESS, 3, toTurn('two', 2));
  expect((await waitAs(redis, toTurn('three', 3))).waitedMs).toBeGreaterThan(0);
});
