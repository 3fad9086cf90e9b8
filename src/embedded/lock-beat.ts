import { statSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Signs of life for whoever cannot see the process that holds a lock file: its time changes once a second. Only that it
 * changes counts, so clocks need not agree.
 */
const BEAT_MS = 1_000;
const LOOK_EVERY_MS = 250;

/** Gives signs until the returned function is called. `onGone`: the file is not there any more. */
export function keepBeating(path: string, onGone: () => void): () => void {
  const beat = async () => {
    const now = new Date();
    await utimes(path, now, now).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') onGone();
    });
  };
  const timer = setInterval(() => void beat(), BEAT_MS).unref();
  return () => clearInterval(timer);
}

/** Whether the file changes, or goes, within the time. */
export async function hasChanged(path: string, withinMs: number): Promise<boolean> {
  const read = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  const first = read();
  const endMs = performance.now() + withinMs;
  while (performance.now() < endMs) {
    await sleep(LOOK_EVERY_MS);
    if (read() !== first) return true;
  }
  return false;
}
