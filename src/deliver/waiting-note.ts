/** Shorter waits are those for a reply of Redis, or for one's turn. */
const LONG_WAIT_MS = 300;

export interface WaitingNote {
  during<T>(wait: Promise<T>): Promise<T>;
  isLong(): boolean;
}

/**
 * Notes how long something has been waited for, with no wait that has ended meanwhile. `now`: monotonic, in ms.
 */
export function createWaitingNote(now: () => number): WaitingNote {
  let waits = 0;
  let sinceMs = 0;
  return {
    async during(wait) {
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
