import type { EventEmitter } from 'node:events';
import type { Logger } from '../src/lib/logger.ts';

const REPEAT_AFTER_MS = 30_000;

/**
 * While Redis is away every connection reports every attempt: one line is logged, then one each half minute.
 * Without a listener Node would end the process.
 */
export function logConnectionErrors(emitters: readonly unknown[], log: Logger): void {
  let loggedAtMs = -REPEAT_AFTER_MS;
  for (const emitter of emitters as readonly EventEmitter[]) {
    emitter.on('error', (error: Error) => {
      if (isLostLock(error)) return; // the worker says so of the job
      const now = performance.now();
      if (now - loggedAtMs < REPEAT_AFTER_MS) return;
      loggedAtMs = now;
      log.warn({ err: error.message }, 'Redis cannot be used; waiting for it');
    });
  }
}

/** `could not renew lock for job 7`, `Missing lock for job 7. moveToFinished`. */
const isLostLock = ({ message }: Error) => /\block for job\b/.test(message);
