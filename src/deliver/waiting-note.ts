/** Shorter waits are those for a reply of Redis, or for one's turn. */
const LONG_WAIT_MS = 300;

/**
 * Notes how long something has been waited for, with no wait that has ended meanwhile. `now`: monotonic, in ms.
 */
export function createWaitingNote(now: () => number) {
  let waits = 0;
  let sinceMs = 0;
  return {
    async during<T>(wait: Promise<T>): Promise<T> {
      if (waits === 0) sinceMs = now();
      waits += 1;
      try {
        return await wait;
      } finally {
        waits -= 1;
        sinceMs = now();
      }
    },
    isLong: () => waits > 0 && now() - sinceMs >= LONG_WAIT_MS,
  };
}
