import { setTimeout as timer } from 'node:timers/promises';

/** Resolves after `ms`; rejects with the signal's reason when that comes first. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await timer(Math.max(ms, 0), undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/**
 * The outcome of `work`, or the signal's reason as soon as it is aborted. The work itself continues; a
 * failure after the abort is ignored.
 */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** As raceAbort, but the work has `graceMs` after the abort to come to its own end. */
export async function endWithin<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => late.abort(signal.reason), graceMs);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  try {
    return await raceAbort(work, late.signal);
  } finally {
    signal.removeEventListener('abort', start);
    clearTimeout(timer);
  }
}

/**
 * Runs `work` with a controller of its own that is aborted with the first of the signals. For work that is
 * done often under signals that live long: AbortSignal.any keeps more than a kilobyte for each of its
 * signals that has a listener, for as long as its sources live.
 *
 * @throws the reason of a signal that is aborted already, without running the work
 */
export async function runAbortable<T>(
  signals: readonly AbortSignal[],
  work: (controller: AbortController) => Promise<T>,
): Promise<T> {
  for (const signal of signals) signal.throwIfAborted();
  const controller = new AbortController();
  const abort = (event: Event) => {
    if (event.target instanceof AbortSignal) controller.abort(event.target.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}

/** Looks of a timer in a time that is awaited. */
const LOOKS = 20;

/**
 * Runs `work` with a signal that is aborted after `ms` without the time in which this process slept: it looks too late
 * then, and may have been answered.
 */
export async function runWithin<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (looks === LOOKS) late.abort(new Error(`not done within ${ms / 1_000} s`));
  }, ms / LOOKS);
  try {
    return await work(late.signal);
  } finally {
    clearInterval(timer);
  }
}
