import { rmSync } from 'node:fs';

/*
 * What is left of a benchmark that is told to end. Processes come before the folder that they write to: it cannot be
 * removed while they do, and what throws at the exit keeps all that comes later from being done.
 */

/** Returns what keeps `end` from being done. */
export function endAtExit(end: () => void): () => void {
  const endOrLeave = () => {
    try {
      end();
    } catch {} // it has ended already
  };
  process.prependOnceListener('exit', endOrLeave);
  return () => process.off('exit', endOrLeave);
}

/** Returns what keeps the folder. */
export function removeAtExit(folder: string): () => void {
  // A process that was just killed may still be at its last call.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  return () => process.off('exit', remove);
}
