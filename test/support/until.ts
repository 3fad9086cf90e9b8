import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 10;

/** Waits for something that another process brings about and tells nobody of: a file, an ended process. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  boundMs = 60_000,
): Promise<T> {
  const startMs = performance.now();
  while (performance.now() - startMs < boundMs) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await pause(LOOK_EVERY_MS);
  }
  throw new Error(`waited ${boundMs} ms for ${what}`);
}
