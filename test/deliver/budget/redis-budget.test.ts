import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLEAN_STOPS_KEY, CRASH_LOSES_MS, CRASHES_KEY } from '../../../src/contract/redis-keys.ts';
import type { Budget, RenewingBudget } from '../../../src/deliver/budget/budget.ts';
import {
  createRedisBudget,
  openCount,
  type RedisBudgetOptions,
} from '../../../src/deliver/budget/redis-budget.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { type Arrival, mostInAnyWindow } from '../../support/strict-destination.ts';
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

/** A real Redis; the time is the test's own, so that a window takes no minute. */
const WINDOW_MS = 60_000;
/** A window and a thousandth, for clocks that drift apart. */
const COUNTED_MS = 60_060;
const REQUEST_TIMEOUT_MS = 48_000;
const CAP = 1000;
const open = new AbortController().signal;

let server: TestRedis;
let redis: Redis;
let clock: VirtualClock;
let keyNumber = 0;
let toEnd: (() => unknown)[] = [];

const connect = () => {
  const made = new Redis(server.port, '127.0.0.1', { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  made.on('error', () => {}); // The test takes the server away on purpose.
  return made;
};

beforeAll(async () => {
  server = await startRedis();
  redis = connect();
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => {
  clock = createVirtualClock();
});
afterEach(async () => {
  for (const end of toEnd.reverse()) await end();
  toEnd = [];
});

const newKey = () => `{bh}:budget:test-${++keyNumber}`;

interface TestBudget extends RenewingBudget {
  readonly key: string;
  readonly lines: string[];
}

/** One process's budget. `key` alone makes it a process of the same fleet. */
async function budgetOn(key: string, more: Partial<RedisBudgetOptions> = {}): Promise<TestBudget> {
  const lines: string[] = [];
  const budget = createRedisBudget({
    redis,
    key,
    eventsPerMinute: CAP,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    count: more.count ?? (await openCount(redis, key)),
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    clock,
    ...more,
  });
  return { ...budget, key, lines };
}

/** The time that the taking took. */
async function measureTake(budget: Budget, events: number): Promise<number> {
  const startMs = clock.now();
  await (await budget.take(events, open)).settle();
  return clock.now() - startMs;
}

/** The Redis with a clock of its own. */
const onClock = (now: () => number): Redis =>
  Object.create(redis, {
    eval: {
      value: (script: string, keys: number, ...rest: string[]) =>
        redis.eval(script, keys, ...rest.slice(0, keys), now(), ...rest.slice(keys + 1)),
    },
  });

const lossesIn = ({ lines }: TestBudget) => lines.filter((line) => line.includes('lost')).length;

describe('the budget in Redis', () => {
  it('counts a permit until a window after its settling, not after its grant', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      const first = await budget.take(CAP, open);
      await clock.wait(40_000);
      await first.settle();
      expect(await measureTake(budget, CAP)).toBe(COUNTED_MS + 1);
    }));

  it('settles a permit once', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      const permit = await budget.take(CAP, open);
      await permit.settle();
      await clock.wait(40_000);
      await permit.settle();
      expect(await measureTake(budget, CAP)).toBe(COUNTED_MS - 40_000 + 1);
    }));

  it('frees the permits of a dead worker when its requests cannot be alive any more', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      await budget.take(CAP, open);
      expect(await measureTake(budget, 1)).toBe(REQUEST_TIMEOUT_MS + COUNTED_MS + 1);
    }));

  it('counts a renewed permit as one that is granted now', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      const permit = await budget.take(CAP, open);
      await clock.wait(REQUEST_TIMEOUT_MS + COUNTED_MS - 1);
      expect(await permit.renew(open)).toBe(true);
      // Its worker dies.
      expect(await measureTake(await budgetOn(budget.key), 1)).toBe(REQUEST_TIMEOUT_MS + COUNTED_MS + 1);
    }));

  it('renews no permit that was lost, or has expired and made room for another one', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      const lost = await budget.take(1, open);
      await redis.del(`${budget.key}:grants`);
      expect(await lost.renew(open)).toBe(false);
      const other = await budgetOn(newKey());
      const expired = await other.take(CAP, open);
      await clock.wait(REQUEST_TIMEOUT_MS + COUNTED_MS + 1);
      await (await budgetOn(other.key)).take(CAP, open);
      expect(await expired.renew(open)).toBe(false);
    }));

  it('renews no permit while the destination has asked another process to wait', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      const permit = await budget.take(1, open);
      await (await budgetOn(budget.key)).slowDown(5_000);
      expect(await permit.renew(open)).toBe(false);
      await clock.wait(5_001);
      expect(await permit.renew(open)).toBe(true);
    }));

  it('makes up for idle time by at most a tenth of the window', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      await measureTake(budget, 1);
      await clock.wait(10 * WINDOW_MS);
      const startMs = clock.now();
      let sent = 0;
      while (clock.now() === startMs) {
        await measureTake(budget, 10);
        sent += 10;
      }
      expect(sent).toBeGreaterThan(CAP / 10);
      expect(sent).toBeLessThanOrEqual(CAP / 10 + 20);
    }));

  it('refuses a batch that no window can hold, and takes one that just fits', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey(), { eventsPerMinute: 10 });
      await expect(budget.take(11, open)).rejects.toThrow(ConfigError);
      expect(await measureTake(budget, 10)).toBe(0);
      await expect(budgetOn(newKey(), { eventsPerMinute: 0 })).rejects.toThrow(ConfigError);
    }));

  it('says a long pause once, where another process has seen the answer that asks for it', () =>
    clock.run(async () => {
      const one = await budgetOn(newKey());
      const other = await budgetOn(one.key);
      await one.slowDown(5_000);
      expect(await measureTake(other, 1)).toBe(5_000);
      expect(other.lines).toEqual([]);
      await one.slowDown(3_600_000);
      expect(await measureTake(other, 1)).toBe(3_600_000);
      expect(other.lines.map((line) => JSON.parse(line).msg)).toEqual([
        'the destination has asked for a pause, and all senders wait for its end',
      ]);
    }));

  it('slows every worker down, the longest request counting', () =>
    clock.run(async () => {
      const key = newKey();
      const [one, other] = [await budgetOn(key), await budgetOn(key)];
      await measureTake(one, 1);
      await one.slowDown(5_000);
      await one.slowDown(1_000);
      expect(await measureTake(other, 1)).toBe(5_000);
    }));

  it.each(['grants of a full window', 'pacing', 'a lost count', 'a slow-down', 'a queue'])(
    'waits no longer after the clock of Redis was set back by a day, for %s',
    (what) =>
      clock.run(async () => {
        let stepMs = 0;
        const stepping = onClock(() => clock.now() - stepMs);
        const key = newKey();
        const budget = await budgetOn(key, { redis: stepping });
        const other = await budgetOn(key, { redis: stepping });
        const startMs = clock.now();
        await measureTake(budget, what === 'pacing' ? CAP / 2 : what.startsWith('grants') ? CAP : 1);
        if (what === 'a lost count') await redis.del(key);
        if (what === 'a slow-down') await other.slowDown(30_000); // which also waits by a clock of its own
        const events = { 'a queue': CAP, 'a lost count': 1 }[what];
        const waiting = events && clock.run(() => measureTake(other, events));
        if (waiting) while ((await redis.zcard(`${key}:queue`)) === 0);
        stepMs = 24 * 3_600_000;
        await measureTake(budget, 1);
        await waiting;
        // From the start as on a clock that was left alone.
        const longestMs = { pacing: CAP / 2 / CAP, 'a slow-down': 0.5, 'a queue': 2.1 }[what] ?? 1;
        expect(clock.now() - startMs).toBeLessThanOrEqual(longestMs * COUNTED_MS + 2_000);
        expect(clock.now() - startMs).toBeGreaterThan((longestMs * COUNTED_MS) / 3);
      }),
  );

  it('holds the cap where the clock of Redis is set forward, and goes on as before', () =>
    clock.run(async () => {
      let stepMs = 0;
      const budget = await budgetOn(newKey(), { redis: onClock(() => clock.now() + stepMs) });
      const arrivals: Arrival[] = [];
      const stepsMs = [1.5, 2.1, 2.2, 4].map((windows) => clock.now() + windows * WINDOW_MS);
      const endMs = clock.now() + 8 * WINDOW_MS;
      while (clock.now() < endMs) {
        const permit = await budget.take(budget.eventsPerPermit, open);
        arrivals.push({ events: budget.eventsPerPermit, atMs: clock.now() });
        await clock.wait(200);
        await permit.settle();
        if (clock.now() > (stepsMs[0] ?? Number.POSITIVE_INFINITY)) {
          stepsMs.shift();
          stepMs += 24 * 3_600_000;
        }
      }
      expect(stepsMs).toEqual([]);
      expect(mostInAnyWindow(arrivals, WINDOW_MS)).toBeLessThanOrEqual(CAP);
      expect(arrivals.length).toBeGreaterThan((0.9 * 7 * CAP) / budget.eventsPerPermit);
    }));

  it.each([60_000, 3_600_000, 24 * 3_600_000])(
    'grants two processes little above the cap where the clock of Redis is set forward four times, by %d ms each',
    async (byMs) => {
      let stepMs = 0;
      const stepping = onClock(() => clock.now() + stepMs);
      const key = newKey();
      const fleet = [await budgetOn(key, { redis: stepping }), await budgetOn(key, { redis: stepping })];
      const arrivals: Arrival[] = [];
      const endMs = clock.now() + 6 * WINDOW_MS;
      const send = (budget: Budget) => async () => {
        while (clock.now() < endMs) {
          const permit = await budget.take(budget.eventsPerPermit, open);
          arrivals.push({ events: budget.eventsPerPermit, atMs: clock.now() });
          await clock.wait(200);
          await permit.settle();
        }
      };
      const step = async () => {
        for (const windows of [2.3, 0.3, 0.3, 0.3]) {
          await clock.wait(windows * WINDOW_MS);
          stepMs += byMs;
        }
      };
      await Promise.all([step, ...fleet.map(send)].map((each) => clock.run(each)));
      expect(stepMs).toBe(4 * byMs);
      expect(mostInAnyWindow(arrivals, WINDOW_MS)).toBeLessThanOrEqual(1.15 * CAP);
      expect(arrivals.length).toBeGreaterThan((0.9 * 6 * CAP) / (CAP / 20));
    },
  );

  it('gives way when aborted: the place in the queue goes to the next', () =>
    clock.run(async () => {
      const key = newKey();
      const [one, other] = [await budgetOn(key), await budgetOn(key)];
      await measureTake(one, CAP);
      const controller = new AbortController();
      const taking = clock.run(() => one.take(1, controller.signal));
      while ((await redis.zcard(`${key}:queue`)) === 0);
      controller.abort(new Error('Ctrl-C'));
      await expect(taking).rejects.toThrow('Ctrl-C');
      while ((await redis.zcard(`${key}:queue`)) > 0);
      expect(await measureTake(other, 1)).toBe(COUNTED_MS + 1);
      expect(await redis.zcard(`${key}:queue`)).toBe(0);
    }));

  it('passes over a worker that died while it waited in front', () =>
    clock.run(async () => {
      const key = newKey();
      const [dying, next] = [await budgetOn(key), await budgetOn(key)];
      await next.slowDown(5_000);
      // Its process ends in mid-wait: nobody gives up its place.
      let isDead = false;
      const die = () => {
        isDead = true;
        return new Promise<never>(() => {});
      };
      const dead = { now: () => clock.now(), wait: die };
      void (await budgetOn(key, { clock: dead })).take(1, open);
      while (!isDead) await redis.ping();
      expect(await measureTake(next, 1)).toBeGreaterThanOrEqual(6_000);
      expect(clock.now()).toBeLessThan(1_000_000_000 + 7_000);
      expect(await measureTake(dying, 1)).toBeLessThan(1_000);
    }));
});

describe('a count', () => {
  it('that was opened by the first of several processes is found by all of them, whoever sends first', () =>
    clock.run(async () => {
      const key = newKey();
      const counts = await Promise.all([openCount(redis, key), openCount(redis, key), openCount(redis, key)]);
      expect(new Set(counts).size).toBe(1);
      for (const count of counts.reverse()) {
        const budget = await budgetOn(key, { count });
        expect(await measureTake(budget, 1)).toBeLessThan(1_000);
        expect(lossesIn(budget)).toBe(0);
      }
    }));

  it.each([0, WINDOW_MS / 2 - 1, 10 * WINDOW_MS])(
    'that is gone %d ms after it began is lost: everybody waits a full window',
    (afterMs) =>
      clock.run(async () => {
        const key = newKey();
        const [one, other] = [await budgetOn(key), await budgetOn(key)];
        await clock.wait(afterMs);
        await measureTake(one, 1);
        await redis.del(key, `${key}:grants`, `${key}:queue`, `${key}:slow`);
        expect(await measureTake(other, 1)).toBe(COUNTED_MS);
        expect(lossesIn(other)).toBe(1);
        expect(await measureTake(one, 1)).toBeLessThan(1_000);
      }),
  );

  it('waits for the requests of before the loss where they live longer than a window', () =>
    clock.run(async () => {
      const key = newKey();
      const budget = await budgetOn(key, { requestTimeoutMs: 2 * WINDOW_MS });
      await measureTake(budget, 1);
      await redis.del(key);
      expect(await measureTake(budget, 1)).toBe(2 * WINDOW_MS);
    }));

  it('includes a request of before the loss from the moment that it is settled', () =>
    clock.run(async () => {
      const key = newKey();
      const [one, other] = [await budgetOn(key), await budgetOn(key)];
      const permit = await one.take(CAP, open);
      await redis.del(key, `${key}:grants`);
      const taking = clock.run(() => measureTake(other, 1));
      await clock.wait(40_000);
      await permit.settle();
      await clock.wait(4 * WINDOW_MS);
      expect(await taking).toBe(40_000 + COUNTED_MS + 1);
    }));

  it('is lost when the grants alone are gone', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      await measureTake(budget, 1);
      await redis.del(`${budget.key}:grants`);
      expect(await measureTake(budget, 1)).toBe(COUNTED_MS);
    }));

  it('is lost when the grants alone are gone, also where a request of before is settled first', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      const permit = await budget.take(1, open);
      await measureTake(budget, CAP / 2);
      await redis.del(`${budget.key}:grants`);
      await permit.settle();
      expect(await measureTake(await budgetOn(budget.key), 1)).toBe(COUNTED_MS);
      expect(await redis.hget(budget.key, 'sum')).toBe('2');
    }));

  it('of another staging is not taken for the own one, and both go on afterwards', () =>
    clock.run(async () => {
      const key = newKey();
      const own = await budgetOn(key);
      const other = await budgetOn(key, { count: 'of another Redis' });
      await measureTake(own, 1);
      expect(await measureTake(other, 1)).toBe(COUNTED_MS);
      expect(await measureTake(own, 1)).toBeLessThan(1_000);
      expect(await measureTake(other, 1)).toBeLessThan(1_000);
    }));

  it('that a late process began again after a loss is not believed', () =>
    clock.run(async () => {
      const key = newKey();
      const first = await budgetOn(key);
      await measureTake(first, 1);
      await redis.del(key, `${key}:grants`);
      await openCount(redis, key); // by a process that had found no mark in staging
      expect(await measureTake(first, 1)).toBe(COUNTED_MS);
      expect(lossesIn(first)).toBe(1);
    }));
});

describe('behind another server on the same files', () => {
  const runId = async () => /run_id:(\w+)/.exec(await redis.info('server'))?.[1] ?? '';
  afterEach(() => redis.del(CLEAN_STOPS_KEY, CRASHES_KEY));
  /** As if the state had been written by a server of that id. */
  const writtenBy = (key: string, id: string) => redis.hset(key, 'server', id);
  const block = Math.ceil(((CRASH_LOSES_MS + COUNTED_MS / 10) * CAP) / COUNTED_MS + CAP / 20);

  it('that was stopped in order it continues at once, with its count', () =>
    clock.run(async () => {
      const key = newKey();
      await measureTake(await budgetOn(key), CAP);
      await writtenBy(key, 'before');
      await redis.zadd(CLEAN_STOPS_KEY, 1, 'before', 2, 'a later one that gave no permit');
      const next = await budgetOn(key);
      expect(await measureTake(next, 1)).toBe(COUNTED_MS + 1); // what was spent before still counts …
      expect(lossesIn(next)).toBe(0); // … and nobody takes it for lost
    }));

  it('that crashed it continues at once, with what the crash may have lost counted as spent', () =>
    clock.run(async () => {
      const key = newKey();
      await measureTake(await budgetOn(key), 100);
      await writtenBy(key, 'before');
      await redis.zadd(CRASHES_KEY, 1, 'before');
      const next = await budgetOn(key);
      expect(await measureTake(next, 1)).toBeLessThan(7_000); // pacing after the 100
      expect(lossesIn(next)).toBe(0);
      expect(Number(await redis.hget(key, 'sum'))).toBe(100 + block + 1);
      expect(await redis.hget(key, 'server')).toBe(await runId());
      await measureTake(next, 1); // once a crash
      expect(Number(await redis.hget(key, 'sum'))).toBe(100 + block + 2);
    }));

  it('counts a block for every crash since, the largest cap counting, and never more than the cap', () =>
    clock.run(async () => {
      const key = newKey();
      const smaller = await budgetOn(key, { eventsPerMinute: CAP / 2 });
      await measureTake(await budgetOn(key), 1);
      await writtenBy(key, 'a');
      await redis.zadd(CLEAN_STOPS_KEY, 2, 'a');
      await redis.zadd(CRASHES_KEY, 1, 'long before', 3, 'b', 4, 'c');
      await measureTake(smaller, 1);
      expect(Number(await redis.hget(key, 'sum'))).toBeGreaterThanOrEqual(2 + 2 * (block - 1));
      expect(Number(await redis.hget(key, 'sum'))).toBeLessThanOrEqual(2 + 2 * block);
      await writtenBy(key, 'a');
      for (let score = 5; score < 30; score += 1) await redis.zadd(CRASHES_KEY, score, `crash ${score}`);
      const next = await budgetOn(key);
      expect(await measureTake(next, 1)).toBe(REQUEST_TIMEOUT_MS + COUNTED_MS + 1);
    }));

  it('that nobody continued the count is lost', () =>
    clock.run(async () => {
      const key = newKey();
      await measureTake(await budgetOn(key), 1);
      await writtenBy(key, 'before');
      await redis.zadd(CRASHES_KEY, 1, 'another');
      expect(await measureTake(await budgetOn(key), 1)).toBe(COUNTED_MS);
    }));
});

describe('while Redis fails', () => {
  /** The same Redis, through a connection that `disturb` comes between. */
  function through(disturb: (call: number, evaluate: () => Promise<unknown>) => Promise<unknown>): {
    redis: Redis;
    calls: () => number;
  } {
    let calls = 0;
    const proxy = new Proxy(redis, {
      get(target, name) {
        if (name !== 'eval') return Reflect.get(target, name);
        return (...values: Parameters<Redis['eval']>) => {
          calls += 1;
          return disturb(calls, () => target.eval(...values));
        };
      },
    });
    return { redis: proxy, calls: () => calls };
  }
  const grantsOf = (key: string) => redis.zrange(`${key}:grants`, '0', '-1', 'WITHSCORES');

  it('senders wait, however often they tried: a permit is one that Redis has given', () =>
    clock.run(async () => {
      const key = newKey();
      const failing = through((call, evaluate) =>
        call <= 40 ? Promise.reject(new Error('LOADING Redis is loading')) : evaluate(),
      );
      const budget = await budgetOn(key, { redis: failing.redis });
      const waitedMs = await measureTake(budget, 5);
      expect(failing.calls()).toBe(42);
      expect(await grantsOf(key)).toHaveLength(2);
      expect(waitedMs).toBeGreaterThan(30 * 5_000);
      expect(budget.lines.join()).toContain('senders wait');
      expect(budget.lines.join()).toContain('available again');
    }));

  it('a grant whose reply was lost is the one that the next try gets', () =>
    clock.run(async () => {
      const key = newKey();
      const lossy = through(async (call, evaluate) => {
        const reply = await evaluate();
        if (call <= 3) throw new Error('connection lost');
        return reply;
      });
      const budget = await budgetOn(key, { redis: lossy.redis });
      await budget.take(7, open);
      expect(await grantsOf(key)).toHaveLength(2);
      expect(await redis.hget(key, 'sum')).toBe('7');
    }));

  it.each([
    [0, 'used', 1],
    [1, 'settled, and another is taken', 2],
  ])('a grant whose reply took the longest time allowed and %d ms is %s', (more, _name, grants) =>
    clock.run(async () => {
      const key = newKey();
      const late = through(async (call, evaluate) => {
        const reply = await evaluate();
        if (call === 1) await clock.wait(REQUEST_TIMEOUT_MS / 12 + more);
        return reply;
      });
      const budget = await budgetOn(key, { redis: late.redis });
      await budget.take(7, open);
      expect(budget.lines.join().includes('Redis answers too late')).toBe(grants === 2);
      const found = await grantsOf(key);
      expect(found).toHaveLength(2 * grants);
      expect(await redis.hget(key, 'sum')).toBe(String(7 * grants));
      // The stale one counts a window from its settling, the other as long as a request may live.
      const scores = found.filter((_, index) => index % 2 === 1).map((score) => Number(score) - clock.now());
      if (grants === 2) expect(scores[0]).toBeLessThanOrEqual(COUNTED_MS);
      expect(scores.at(-1)).toBeGreaterThan(COUNTED_MS + REQUEST_TIMEOUT_MS - 5_000);
    }),
  );

  it('a server that is killed and comes back has lost the count', () =>
    clock.run(async () => {
      const budget = await budgetOn(newKey());
      await measureTake(budget, 1);
      await server.kill9();
      const taking = measureTake(budget, 1);
      await expect(budget.take(1, AbortSignal.timeout(50))).rejects.toThrow(/timeout/);
      await server.restart();
      expect(await taking).toBe(COUNTED_MS);
    }));
});

it('a right that the user of Redis loses is for an operator, and is not waited for', async () => {
  const key = newKey();
  const count = await openCount(redis, key);
  await redis.call('ACL', 'SETUSER', 'bh', 'reset', 'on', '>secret', '~{bh}*', '&*', '+@all');
  const own = new Redis(`redis://bh:secret@127.0.0.1:${server.port}`, { maxRetriesPerRequest: null });
  toEnd.push(() => own.disconnect());
  const budget = await budgetOn(key, { count, redis: own });
  await (await budget.take(1, open)).settle();
  for (const right of ['-zadd', '-eval']) {
    await redis.call('ACL', 'SETUSER', 'bh', right);
    const taken = budget.take(1, open);
    await expect(taken).rejects.toThrow(ConfigError);
    await expect(taken).rejects.toThrow(/what that user may do .*then resume/);
  }
});
