import { setTimeout as timer } from 'node:timers/promises';

/** Resolves after `ms`; rejects with the signal's reason when that comes first. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await timer(Math.max(ms, 0), undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** The promise's outcome, or the signal's reason as soon as it is aborted; the work itself goes on. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
