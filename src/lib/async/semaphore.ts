/**
 * Limits how many callers work at a time. Up to `maxWaiting` further ones wait, first come first served;
 * beyond that `refuse` makes the error that the caller gets.
 */
export function createSemaphore(
  maxWorking: number,
  maxWaiting: number,
  refuse: () => Error,
): <T>(work: () => Promise<T>) => Promise<T> {
  let working = 0;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (working >= maxWorking) {
      if (waiting.length >= maxWaiting) {
        throw refuse();
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
