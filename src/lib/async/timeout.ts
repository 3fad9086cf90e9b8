import { setTimeout as wait } from 'node:timers/promises';

/** Waits for `work`, but no longer than `ms`: BullMQ waits for a Redis that is gone for ever. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const settled = work.then(
    () => done.abort(),
    () => done.abort(),
  );
  await Promise.race([settled, wait(ms, undefined, { signal: done.signal }).catch(() => {})]);
}
