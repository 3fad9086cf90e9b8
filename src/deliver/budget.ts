import { createHash } from 'node:crypto';
import { wait } from '../lib/async/abort.ts';

/** How many events may be sent, and when. Every attempt at a request takes its own permit (I6). */
export interface Budget {
  /** The largest number of events one permit should be asked for; a larger batch is sent in several requests. */
  readonly eventsPerPermit: number;
  /** Waits until this many events may be sent. Throws the signal's reason when aborted. */
  take(events: number, signal: AbortSignal): Promise<Permit>;
  /** Nobody who shares this budget gets a permit for the next `ms`. Never throws. */
  slowDown(ms: number): Promise<void>;
}

export interface Permit {
  /** The request is over, whatever became of it. Never throws; only the first call counts. */
  settle(): Promise<void>;
}

/** Counts nothing; still waits where the destination asked for it. For the bundled API. */
export function createUnlimitedBudget(): Budget {
  const pause = createLocalPause();
  return {
    eventsPerPermit: Number.POSITIVE_INFINITY,
    async take(_events, signal) {
      await pause.over(signal);
      return { settle: async () => {} };
    },
    slowDown: async (ms) => pause.extend(ms),
  };
}

/** A pause of this process alone, on a clock that nobody can set. */
export function createLocalPause() {
  let untilMs = 0;
  return {
    extend(ms: number): void {
      untilMs = Math.max(untilMs, performance.now() + ms);
    },
    /** The pause may grow while it is waited for. */
    async over(signal: AbortSignal): Promise<void> {
      for (let leftMs = untilMs - performance.now(); leftMs > 0; leftMs = untilMs - performance.now()) {
        await wait(Math.ceil(leftMs), signal);
      }
      signal.throwIfAborted();
    },
  };
}

/** One budget a destination and project. The key is hashed, never shown (I10); the tag keeps a cluster's slot. */
export function budgetKey(url: string, apiKey: string): string {
  const { origin, pathname } = new URL(url);
  const address = origin + pathname.replace(/\/+$/, '');
  return `{bh}:budget:${createHash('sha256').update(`${address}\n${apiKey}`).digest('hex').slice(0, 32)}`;
}
