import { randomUUID } from 'node:crypto';
import { setTimeout as timer } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { CLEAN_STOPS_KEY } from '../contract/redis-keys.ts';
import { orAborted, wait } from '../lib/async/abort.ts';
import { ConfigError, getMessage } from '../lib/errors.ts';
import { type Budget, createLocalPause, type Permit } from './budget.ts';
import { LEAVE, SETTLE, SLOW_DOWN, TAKE, WAIT_REASONS } from './budget-scripts.ts';
import { backoffCeilingMs } from './retry-policy.ts';

export interface RedisBudgetOptions {
  readonly redis: Redis;
  /** See budgetKey. Whoever uses the same key shares the budget. */
  readonly key: string;
  /** Events in any window. */
  readonly eventsPerMinute: number;
  /** 60,000 unless a test is in a hurry. */
  readonly windowMs?: number;
  /** No request is alive this long after its permit: the sender's total bound and a tenth more. */
  readonly requestTimeoutMs: number;
  /**
   * Nothing was ever sent under this key, so a missing count is no lost count. Counts for the first
   * contact of this budget alone, and for half a window: nobody who finds no count sends that early,
   * so whatever is missing until then cannot be missed.
   */
  readonly firstUse: boolean;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Rounding loss of a full window stays under this share of the cap: requests are cut to fit. */
const PERMITS_PER_WINDOW = 20;
/** The clocks of Redis and destination may drift against each other. */
const DRIFT = 1 / 1000;
/** A waiting worker with a busy event loop keeps its place in the queue this long. */
const QUEUE_GRACE_MS = 1000;
/** A reply that took longer than this share of the request timeout brings a stale permit. */
const TRAVEL_SHARE = 1 / 12;
const SETTLE_PATIENCE_MS = 1000;
const REDIS_RETRY = { attempts: Number.POSITIVE_INFINITY, baseMs: 50, maxMs: 5000 };

/** One budget for every process that shares its key. The rules and their proof: budget-scripts.ts. */
export function createRedisBudget(options: RedisBudgetOptions): Budget {
  const { redis, key, eventsPerMinute: cap, windowMs = 60_000, requestTimeoutMs, log } = options;
  if (!Number.isSafeInteger(cap) || cap < 1) {
    throw new ConfigError(`limits.eventsPerMinute must be a whole number of at least 1, not ${cap}`);
  }
  const keys = [key, `${key}:grants`, `${key}:queue`, `${key}:slow`, CLEAN_STOPS_KEY];
  const countedMs = windowMs + Math.ceil(windowMs * DRIFT);
  const who = randomUUID();
  const localPause = createLocalPause();
  const turns = createSemaphore();
  let firstUse = options.firstUse;
  const firstUseEndsMs = performance.now() + windowMs / 2;

  const run = (script: string, ...values: (string | number)[]) =>
    redis.eval(script, keys.length, ...keys, ...values);

  /** Redis trouble makes senders wait, never run free. */
  async function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await orAborted(work(), signal);
        if (attempt > 1) log.info({ attempt }, 'budget in Redis reached again');
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (attempt === 1 || attempt % 10 === 0) {
          log.warn({ attempt, error: getMessage(error) }, 'budget in Redis out of reach, senders wait');
        }
        await wait(backoffCeilingMs(attempt, REDIS_RETRY), signal);
      }
    }
  }

  async function ask(id: string, events: number): Promise<{ waitMs: number; reason: string }> {
    const free = firstUse && performance.now() < firstUseEndsMs;
    const settings = [cap, countedMs, requestTimeoutMs, free ? 1 : 0, QUEUE_GRACE_MS];
    const reply = await run(TAKE, who, id, events, ...settings);
    firstUse = false;
    if (!Array.isArray(reply)) throw new Error('the budget script answered something else than a list');
    return { waitMs: Number(reply[0]), reason: WAIT_REASONS[Number(reply[1])] ?? 'unknown' };
  }

  function createPermit(id: string, events: number): Permit {
    let settled: Promise<void> | undefined;
    const settle = async () => {
      const done = new AbortController();
      // Goes on in the background when Redis is away: the grant must not be forgotten (see SETTLE).
      const told = persistently(
        () => run(SETTLE, id, events, countedMs),
        AbortSignal.timeout(requestTimeoutMs),
      );
      const patience = timer(SETTLE_PATIENCE_MS, undefined, { ref: false, signal: done.signal });
      await Promise.race([told, patience]).catch(() => {});
      done.abort();
      told.catch(() => {});
      patience.catch(() => {});
    };
    return {
      settle: () => {
        settled ??= settle();
        return settled;
      },
    };
  }

  async function takeInTurn(events: number, signal: AbortSignal): Promise<Permit> {
    let id = randomUUID();
    let lossTold = false;
    for (;;) {
      await localPause.over(signal);
      let askedMs = 0;
      const { waitMs, reason } = await persistently(() => {
        askedMs = performance.now();
        return ask(id, events);
      }, signal);

      if (waitMs > 0) {
        if (reason === 'count_lost' && !lossTold) {
          lossTold = true;
          log.warn({ waitMs }, 'count of sent events lost in Redis, senders wait a full window');
        }
        await wait(waitMs, signal);
        continue;
      }
      const permit = createPermit(id, events);
      if (performance.now() - askedMs <= requestTimeoutMs * TRAVEL_SHARE) return permit;
      await permit.settle();
      id = randomUUID();
    }
  }

  return {
    eventsPerPermit: Math.max(1, Math.floor(cap / PERMITS_PER_WINDOW)),

    async take(events, signal) {
      if (events > cap) {
        throw new ConfigError(
          `a batch of ${events} events can never be sent at ${cap} events a minute: ` +
            `set limits.batch.events to ${cap} or less`,
        );
      }
      const done = await turns.next(signal);
      try {
        return await takeInTurn(events, signal);
      } catch (error) {
        run(LEAVE, who).catch(() => {}); // Else the place lapses by itself.
        throw error;
      } finally {
        done();
      }
    },

    async slowDown(ms) {
      if (ms <= 0) return;
      localPause.extend(ms);
      const patience = AbortSignal.timeout(SETTLE_PATIENCE_MS);
      await persistently(() => run(SLOW_DOWN, Math.ceil(ms)), patience).catch(() => {});
    },
  };
}

/** First come, first served: a process waits in the fleet's queue once, however many requests it has. */
function createSemaphore() {
  let last = Promise.resolve();
  return {
    async next(signal: AbortSignal): Promise<() => void> {
      const before = last;
      let done = () => {};
      const mine = new Promise<void>((resolve) => {
        done = resolve;
      });
      last = before.then(() => mine);
      try {
        await orAborted(before, signal);
      } catch (error) {
        done();
        throw error;
      }
      return done;
    },
  };
}
