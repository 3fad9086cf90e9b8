import type { BudgetClock } from '../../src/deliver/budget/budget.ts';

/**
 * Time that passes only while every actor waits for it: hours of a fleet in a second, the same in every run. Real
 * I/O of an actor takes no time on this clock.
 */
export interface VirtualClock extends BudgetClock {
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Runs an actor, beside those that there are. It must not await another one: nobody then waits for time to pass. */
  run<T>(actor: () => Promise<T>): Promise<T>;
}

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export function createVirtualClock(startMs = 1_000_000_000): VirtualClock {
  let nowMs = startMs;
  let awake = 0;
  const sleepers = new Set<Sleeper>();

  function passTime(): void {
    if (awake > 0) return;
    let next: Sleeper | undefined;
    for (const sleeper of sleepers) if (!next || sleeper.atMs < next.atMs) next = sleeper;
    if (!next) return;
    nowMs = Math.max(nowMs, next.atMs);
    next.wake();
  }

  return {
    now: () => nowMs,

    wait(ms, signal) {
      return new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const end = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', abort);
          awake += 1;
        };
        const abort = () => {
          end();
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          atMs: nowMs + Math.max(0, ms),
          wake() {
            end();
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
        awake -= 1;
        // The others that are awake may still have something to do in this very moment.
        setImmediate(passTime);
      });
    },

    async run(actor) {
      awake += 1;
      try {
        return await actor();
      } finally {
        awake -= 1;
        setImmediate(passTime);
      }
    },
  };
}
