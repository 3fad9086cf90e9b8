/** Runs `work` when there is a place for it. Aborting `signal` ends the waiting, not the work. */
export type Semaphore = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Limits how many callers work at a time. Up to `maxWaiting` further ones wait, first come, first served;
 * beyond that `refuse` makes the error that the caller gets.
 *
 * @default maxWaiting no limit
 */
export function createSemaphore(
  maxWorking: number,
  maxWaiting: number = Number.POSITIVE_INFINITY,
  refuse: () => Error = () => new Error(`more than ${maxWaiting} callers wait for their turn`),
): Semaphore {
  let working = 0;
  const waiting = new Set<() => void>();

  function waitForTurn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const take = () => {
        waiting.delete(take);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        waiting.delete(take);
        reject(signal?.reason);
      };
      waiting.add(take);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  return async (work, signal) => {
    signal?.throwIfAborted();
    if (working >= maxWorking) {
      if (waiting.size >= maxWaiting) throw refuse();
      await waitForTurn(signal);
    } else {
      working += 1;
    }
    try {
      return await work();
    } finally {
      // The place passes to the caller who has waited longest.
      const [next] = waiting;
      if (next === undefined) working -= 1;
      else next();
    }
  };
}
