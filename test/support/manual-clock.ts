import type { BudgetClock } from '../../src/deliver/budget/budget.ts';

/** Time that passes when a test says so, and with every wait of less than a second, which then takes none. */
export interface ManualClock extends BudgetClock {
  pass(ms: number): void;
}

const AT_ONCE_BELOW_MS = 1_000;

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

export function createManualClock(startMs = 1_000_000): ManualClock {
  let nowMs = startMs;
  const sleepers = new Set<Sleeper>();

  function pass(ms: number): void {
    nowMs += ms;
    for (const sleeper of [...sleepers]) if (sleeper.atMs <= nowMs) sleeper.wake();
  }

  return {
    now: () => nowMs,
    pass,
    wait: (ms, signal) =>
      new Promise<void>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const end = () => {
          sleepers.delete(sleeper);
          signal.removeEventListener('abort', abort);
        };
        const abort = () => {
          end();
          reject(signal.reason);
        };
        const sleeper: Sleeper = {
          atMs: nowMs + ms,
          wake() {
            end();
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener('abort', abort, { once: true });
        if (ms < AT_ONCE_BELOW_MS) setImmediate(pass, ms);
      }),
  };
}
