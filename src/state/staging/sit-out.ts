import { setTimeout as pause } from 'node:timers/promises';
import { UnavailableError } from '../../lib/errors.ts';

/** Waits between two attempts at a server that is away: short at first, as most faults pass at once. */
const FIRST_MS = 100;
const LONGEST_MS = 2_000;

export interface Patience {
  /** For how long a server that answers nothing, or that it is overloaded, is asked again. */
  readonly outageMs: () => number;
  /** Clock in ms. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
}

export const PATIENCE: Omit<Patience, 'outageMs'> = {
  now: () => performance.now(),
  wait: (ms) => pause(ms),
  random: Math.random,
};

/**
 * Repeats work that fails with UnavailableError until the outage has lasted too long, counted from the end of the first
 * attempt: one whose connection is lost without a word takes long, and says nothing of the next. The work must be
 * harmless when it is done twice.
 */
export async function sitOut<T>(work: () => Promise<T>, patience: Patience): Promise<T> {
  let sinceMs: number | undefined;
  for (let ceilingMs = FIRST_MS; ; ceilingMs = Math.min(2 * ceilingMs, LONGEST_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      sinceMs ??= patience.now();
      if (patience.now() - sinceMs >= patience.outageMs()) throw error;
      await patience.wait(ceilingMs * (0.5 + patience.random() / 2));
    }
  }
}
