import { InsightError } from './insight-error.ts';

/** Lets a few work at a time, and a bounded number wait for their turn. */
export function createTurns(
  maxWorking: number,
  maxWaiting: number,
): <T>(work: () => Promise<T>) => Promise<T> {
  let working = 0;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (working >= maxWorking) {
      if (waiting.length >= maxWaiting) {
        throw new InsightError('too_slow', 'Too many insights are asked for at once: try again soon.');
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      working += 1;
    }
    try {
      return await work();
    } finally {
      // The turn passes on to who waits longest.
      const next = waiting.shift();
      if (next === undefined) working -= 1;
      else next();
    }
  };
}
