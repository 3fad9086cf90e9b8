import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { CLEAN_STOPS_KEY } from '../contract/redis-keys.ts';
import { raceAbort, waitFor } from '../lib/async/abort.ts';
import { createSemaphore } from '../lib/async/semaphore.ts';
import { settleWithin } from '../lib/async/timeout.ts';
import { ConfigError, getMessage } from '../lib/errors.ts';
import { type Budget, createLocalPause, type Permit } from './budget.ts';
import { LEAVE, SETTLE, SLOW_DOWN, TAKE, WAIT_REASONS } from './budget-scripts.ts';
import { getBackoffCeilingMs } from './retry-policy.ts';

export interface RedisBudgetOptions {
  readonly redis: Redis;
  /** See toRedisBudgetKey. Processes with the same key share the budget. */
  readonly key: string;
  /** Most events in any window. */
  readonly eventsPerMinute: number;
  /** @default 60,000; shorter only in tests */
  readonly windowMs?: number;
  /** Longest lifetime of a request after its permit: the sender's total timeout and a tenth more. */
  readonly requestTimeoutMs: number;
  /**
   * Nothing was ever sent under this key, so a missing count is not a lost count. Valid for the first call
   * of this budget only, and for half a window: processes that find no count do not send that early, so
   * no count can have been lost until then.
   */
  readonly firstUse: boolean;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** A permit covers at most this share of the cap, which bounds the rounding loss of a full window. */
const PERMITS_PER_WINDOW = 20;
/** The clocks of Redis and the destination may drift apart by this share. */
const DRIFT = 1 / 1000;
/** A waiting worker whose event loop is busy keeps its place in the queue this long. */
const QUEUE_GRACE_MS = 1000;
/** A permit whose reply took longer than this share of the request timeout is stale. */
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
  // A process waits in the fleet's queue once, however many requests it has.
  const takeTurn = createSemaphore(1);
  let firstUse = options.firstUse;
  const firstUseEndsMs = performance.now() + windowMs / 2;

  const run = (script: string, ...values: (string | number)[]) =>
    redis.eval(script, keys.length, ...keys, ...values);

  /** While Redis is unavailable, senders wait: they never send without a permit. */
  async function retryUntilAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await raceAbort(work(), signal);
        if (attempt > 1) log.info({ attempt }, 'budget in Redis available again');
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (attempt === 1 || attempt % 10 === 0) {
          log.warn({ attempt, error: getMessage(error) }, 'budget in Redis unavailable, senders wait');
        }
        await waitFor(getBackoffCeilingMs(attempt, REDIS_RETRY), signal);
      }
    }
  }

  async function requestPermit(id: string, events: number): Promise<{ waitMs: number; reason: string }> {
    const free = firstUse && performance.now() < firstUseEndsMs;
    const settings = [cap, countedMs, requestTimeoutMs, free ? 1 : 0, QUEUE_GRACE_MS];
    const reply = await run(TAKE, who, id, events, ...settings);
    firstUse = false;
    if (!Array.isArray(reply)) throw new Error('the budget script did not return a list');
    return { waitMs: Number(reply[0]), reason: WAIT_REASONS[Number(reply[1])] ?? 'unknown' };
  }

  function createPermit(id: string, events: number): Permit {
    let settling: Promise<void> | undefined;
    // Continues in the background while Redis is unavailable: the grant must be settled (see SETTLE).
    const settle = () =>
      settleWithin(
        retryUntilAborted(() => run(SETTLE, id, events, countedMs), AbortSignal.timeout(requestTimeoutMs)),
        SETTLE_PATIENCE_MS,
      );
    return {
      settle: () => {
        settling ??= settle();
        return settling;
      },
    };
  }

  async function takeLocked(events: number, signal: AbortSignal): Promise<Permit> {
    let id = randomUUID();
    let isLossLogged = false;
    for (;;) {
      await localPause.wait(signal);
      let requestedMs = 0;
      const { waitMs, reason } = await retryUntilAborted(() => {
        requestedMs = performance.now();
        return requestPermit(id, events);
      }, signal);

      if (waitMs > 0) {
        if (reason === 'count_lost' && !isLossLogged) {
          isLossLogged = true;
          log.warn({ waitMs }, 'count of sent events lost in Redis, senders wait a full window');
        }
        await waitFor(waitMs, signal);
        continue;
      }
      const permit = createPermit(id, events);
      if (performance.now() - requestedMs <= requestTimeoutMs * TRAVEL_SHARE) return permit;
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
      return takeTurn(async () => {
        try {
          return await takeLocked(events, signal);
        } catch (error) {
          run(LEAVE, who).catch(() => {}); // without it the place expires
          throw error;
        }
      }, signal);
    },

    async slowDown(ms) {
      if (ms <= 0) return;
      localPause.extend(ms);
      const patience = AbortSignal.timeout(SETTLE_PATIENCE_MS);
      await retryUntilAborted(() => run(SLOW_DOWN, Math.ceil(ms)), patience).catch(() => {});
    },
  };
}
