import { statSync, utimesSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Signs of life for whoever cannot see the process that holds a lock file: its time changes once a second. Only that it
 * changes counts, so clocks need not agree.
 */
const BEAT_MS = 1_000;
const LOOK_EVERY_MS = 250;

/** Gives signs until the returned function is called. `onGone`: the file is not there any more. */
export function keepBeating(path: string, onGone: () => void): () => void {
  // Not by the threads of the process: reads of a share that is away, and unanswered name look-ups, hold all of them.
  const beat = () => {
    const now = new Date();
    try {
      utimesSync(path, now, now);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') onGone();
    }
  };
  const timer = setInterval(beat, BEAT_MS).unref();
  return () => clearInterval(timer);
}

/** Whether the file changes, or goes, within the time. */
export async function hasChanged(path: string, withinMs: number): Promise<boolean> {
  const read = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  const first = read();
  const looks = Math.ceil(withinMs / LOOK_EVERY_MS);
  // Counted by the timer and not by a clock: who slept beside the owner must not take it for dead when both wake.
  for (let look = 0; look < looks; look += 1) {
    await sleep(LOOK_EVERY_MS);
    if (read() !== first) return true;
  }
  return false;
}
