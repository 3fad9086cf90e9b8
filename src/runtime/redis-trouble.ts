import type { Redis } from 'ioredis';
import { getMessage } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';

/** A connection without an error for so long is usable: what Redis cannot do is asked for again each second. */
const QUIET_MS = 2_500;
const LOOK_EVERY_MS = 500;
/** One that takes connections and answers nothing, or whose network drops what is sent, emits no error. */
const PING_EVERY_MS = 2_000;
/** Counted by the timer and not by a clock: a process that slept asks too late, and was answered. */
const LATE_AFTER_PINGS = 5;
const SILENT = `no answer for more than ${(PING_EVERY_MS * LATE_AFTER_PINGS) / 1_000} s`;

export type TroubleListener = (reason: string | undefined) => void;

/** Tells whoever listens why Redis cannot be used, and once it can again. */
export interface RedisTrouble {
  /** Called at once where there is trouble, and at every change. Returns what stops it. */
  watch(listener: TroubleListener): () => void;
  close(): void;
}

export function watchRedisTrouble(redis: Redis, log: Logger): RedisTrouble {
  const listeners = new Set<TroubleListener>();
  let reason: string | undefined;
  let sinceMs = 0;
  let lastErrorMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const change = (next: string | undefined) => {
    if (next === reason) return;
    reason = next;
    for (const listener of listeners) listener(reason);
  };
  let missed = 0;
  const isSilent = () => missed >= LATE_AFTER_PINGS;
  const lookAgain = () => {
    if (isSilent()) lastErrorMs = performance.now();
    if (redis.status !== 'ready' || performance.now() - lastErrorMs < QUIET_MS) return;
    clearInterval(timer);
    timer = undefined;
    log.info({ waitedMs: Math.round(performance.now() - sinceMs) }, 'Redis can be used again');
    change(undefined);
  };
  const meet = (err: string) => {
    lastErrorMs = performance.now();
    if (timer === undefined) {
      sinceMs = lastErrorMs;
      log.warn({ err }, 'Redis cannot be used; waiting for it');
      timer = setInterval(lookAgain, LOOK_EVERY_MS).unref();
    }
    change(err);
  };
  redis.on('error', (error: unknown) => meet(getMessage(error)));

  let isAsking = false;
  const ping = async () => {
    // Of a connection that is lost, errors tell.
    if (redis.status !== 'ready') missed = 0;
    else if (isAsking) {
      missed += 1;
      if (isSilent()) meet(SILENT);
    } else {
      isAsking = true;
      await redis.ping().catch(() => {}); // a refusal is an answer
      isAsking = false;
      missed = 0;
    }
  };
  const pinging = setInterval(() => void ping(), PING_EVERY_MS).unref();

  return {
    watch(listener) {
      listeners.add(listener);
      if (reason !== undefined) listener(reason);
      return () => listeners.delete(listener);
    },
    close() {
      clearInterval(timer);
      clearInterval(pinging);
    },
  };
}
