import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { CLEAN_STOPS_KEY, CRASH_LOSES_MS, CRASHES_KEY } from '../../contract/redis-keys.ts';
import { raceAbort } from '../../lib/async/abort.ts';
import { createSemaphore } from '../../lib/async/semaphore.ts';
import { settleWithin } from '../../lib/async/timeout.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { classifyReply, explainRefusedByRedis } from '../../lib/redis/redis-reply.ts';
import { getBackoffCeilingMs } from '../retry-policy.ts';
import {
  type BudgetClock,
  createLocalPause,
  type RenewablePermit,
  type RenewingBudget,
  SYSTEM_CLOCK,
} from './budget.ts';
import { LEAVE, OPEN, RENEW, SETTLE, SLOW_DOWN, TAKE, WAIT_REASONS } from './budget-scripts.ts';
import { createOwnGrants, type OwnGrant } from './own-grants.ts';

export interface RedisBudgetOptions {
  readonly redis: Redis;
  /** See listRedisBudgetKeys. Processes with the same key share the budget. */
  readonly key: string;
  /** Most events in any window. */
  readonly eventsPerMinute: number;
  /** @default 60,000; shorter only in tests */
  readonly windowMs?: number;
  /** Longest lifetime of a request after its permit: the sender's total timeout and a tenth more. */
  readonly requestTimeoutMs: number;
  /** Id of the count, as openCount returned it to the first process that sent from this staging. */
  readonly count: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** @default the time of this process for waiting, and that of Redis for counting */
  readonly clock?: BudgetClock;
}

/** A permit covers at most this share of the cap, which bounds the rounding loss of a full window. */
const PERMITS_PER_WINDOW = 20;
/** The clocks of Redis and the destination may drift apart by this share. */
const DRIFT = 1 / 1000;
/** A waiting worker whose event loop is busy keeps its place in the queue this long. */
const QUEUE_GRACE_MS = 1000;
/** A pause that a destination asks for is logged from here on. */
const LONG_PAUSE_MS = 10_000;
/** A permit whose reply took longer than this share of the request timeout is stale. */
const TRAVEL_SHARE = 1 / 12;
const SETTLE_PATIENCE_MS = 1000;
const REDIS_RETRY = { attempts: Number.POSITIVE_INFINITY, baseMs: 50, maxMs: 5000 };

const toKeys = (key: string) => [
  key,
  `${key}:grants`,
  `${key}:queue`,
  `${key}:slow`,
  CLEAN_STOPS_KEY,
  CRASHES_KEY,
];

/**
 * Begins the count of a destination that nobody has sent to, where there is none yet, and returns its id. The id
 * is to be kept in staging before anything is sent: a Redis that does not know it has lost the count.
 */
export async function openCount(redis: Redis, key: string): Promise<string> {
  const keys = toKeys(key);
  return String(await redis.eval(OPEN, keys.length, ...keys, '', randomUUID()));
}

/** One budget for every process that shares its key. The rules and their proof: budget-scripts.ts. */
export function createRedisBudget(options: RedisBudgetOptions): RenewingBudget {
  const { redis, key, eventsPerMinute: cap, windowMs = 60_000, requestTimeoutMs, count, log } = options;
  const { clock = SYSTEM_CLOCK } = options;
  if (!Number.isSafeInteger(cap) || cap < 1) {
    throw new ConfigError(`limits.eventsPerMinute must be a whole number of at least 1, not ${cap}`);
  }
  const keys = toKeys(key);
  const countedMs = windowMs + Math.ceil(windowMs * DRIFT);
  const who = randomUUID();
  const localPause = createLocalPause(clock);
  const own = createOwnGrants({ cap, countedMs, requestTimeoutMs, clock });
  // A process waits in the fleet's queue once, however many requests it has.
  const takeTurn = createSemaphore(1);

  const run = (script: string, ...values: (string | number)[]) =>
    redis.eval(script, keys.length, ...keys, options.clock ? clock.now() : '', ...values);

  /** While Redis is unavailable, senders wait: they never send without a permit. */
  async function retryUntilAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await raceAbort(work(), signal);
        if (attempt > 1) log.info({ attempt }, 'budget in Redis available again');
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (classifyReply(error) === 'refusal') throw new ConfigError(explainRefusedByRedis(error), error);
        if (attempt === 1 || attempt % 10 === 0) {
          log.warn({ attempt, error: getMessage(error) }, 'budget in Redis unavailable, senders wait');
        }
        await clock.wait(getBackoffCeilingMs(attempt, REDIS_RETRY), signal);
      }
    }
  }

  async function requestPermit(id: string, events: number): Promise<{ waitMs: number; reason: string }> {
    const settings = [cap, countedMs, requestTimeoutMs, count, QUEUE_GRACE_MS, CRASH_LOSES_MS];
    const reply = await run(TAKE, who, id, events, ...settings, PERMITS_PER_WINDOW);
    if (!Array.isArray(reply)) throw new Error('the budget script did not return a list');
    return { waitMs: Number(reply[0]), reason: WAIT_REASONS[Number(reply[1])] ?? 'unknown' };
  }

  const hasTravelled = (sinceMs: number) => clock.now() - sinceMs > requestTimeoutMs * TRAVEL_SHARE;

  function createPermit(id: string, events: number, grant?: OwnGrant): RenewablePermit {
    let settling: Promise<void> | undefined;
    // Continues in the background while Redis is unavailable: the grant must be settled (see SETTLE).
    const settle = () =>
      settleWithin(
        retryUntilAborted(() => run(SETTLE, id, events, countedMs), AbortSignal.timeout(requestTimeoutMs)),
        SETTLE_PATIENCE_MS,
      );
    return {
      settle: () => {
        if (settling === undefined) grant?.end();
        settling ??= settle();
        return settling;
      },
      async renew(signal) {
        let askedMs = 0;
        const isRenewed = await retryUntilAborted(() => {
          askedMs = clock.now();
          return run(RENEW, id, events, countedMs, requestTimeoutMs);
        }, signal);
        return isRenewed === 1 && !hasTravelled(askedMs) && (grant?.renew() ?? false);
      },
    };
  }

  async function takeLocked(events: number, signal: AbortSignal): Promise<RenewablePermit> {
    let id = randomUUID();
    let isLossLogged = false;
    let isPauseLogged = false;
    let isLateLogged = false;
    for (;;) {
      await localPause.wait(signal);
      let requestedMs = 0;
      const { waitMs, reason } = await retryUntilAborted(() => {
        requestedMs = clock.now();
        return requestPermit(id, events);
      }, signal);

      if (waitMs > 0) {
        if (reason === 'count_lost' && !isLossLogged) {
          isLossLogged = true;
          log.warn({ waitMs }, 'count of sent events lost in Redis, senders wait a full window');
        }
        if (reason === 'slow_down' && waitMs >= LONG_PAUSE_MS && !isPauseLogged) {
          isPauseLogged = true;
          log.warn({ waitMs }, 'the destination has asked for a pause, and all senders wait for its end');
        }
        // Redis may know better in the meantime: its clock may be set, or another server take over.
        await clock.wait(Math.min(waitMs, countedMs), signal);
        continue;
      }
      const ownMs = own.getWaitMs(events);
      if (ownMs > 0) await clock.wait(ownMs, signal);
      if (!hasTravelled(requestedMs)) return createPermit(id, events, own.add(events));
      const tookMs = clock.now() - requestedMs - ownMs;
      if (tookMs > requestTimeoutMs * TRAVEL_SHARE && !isLateLogged) {
        isLateLogged = true;
        log.warn(
          { tookMs },
          'Redis answers too late for its permits to be used, senders wait until it is faster',
        );
      }
      await createPermit(id, events).settle();
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
