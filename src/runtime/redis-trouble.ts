import type { Redis } from 'ioredis';
import { getMessage } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';

/** A connection without an error for so long is usable: what Redis cannot do is asked for again each second. */
const QUIET_MS = 2_500;
const LOOK_EVERY_MS = 500;

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
  const lookAgain = () => {
    if (redis.status !== 'ready' || performance.now() - lastErrorMs < QUIET_MS) return;
    clearInterval(timer);
    timer = undefined;
    log.info({ waitedMs: Math.round(performance.now() - sinceMs) }, 'Redis can be used again');
    change(undefined);
  };
  redis.on('error', (error: unknown) => {
    lastErrorMs = performance.now();
    if (timer === undefined) {
      sinceMs = lastErrorMs;
      log.warn({ err: getMessage(error) }, 'Redis cannot be used; waiting for it');
      timer = setInterval(lookAgain, LOOK_EVERY_MS).unref();
    }
    change(getMessage(error));
  });

  return {
    watch(listener) {
      listeners.add(listener);
      if (reason !== undefined) listener(reason);
      return () => listeners.delete(listener);
    },
    close: () => clearInterval(timer),
  };
}
