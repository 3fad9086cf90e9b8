import { setImmediate as turn } from 'node:timers/promises';

/** Keeps long loops from blocking the event loop: `if (pace.isDue()) await pace.rest();` once an item. */
export interface Pace {
  isDue(): boolean;
  /** Lets everything else that waits run once. */
  rest(): Promise<void>;
}

/** Well below 50 ms, because several loops of a process may come due in one turn. */
const STRETCH_MS = 12;

/** The clock is looked at once for so many items, as a look costs as much as some of them. */
const ITEMS_A_LOOK = 8;

export function createPace(stretchMs = STRETCH_MS): Pace {
  let sinceMs = performance.now();
  let items = 0;
  return {
    isDue() {
      items += 1;
      return items % ITEMS_A_LOOK === 0 && performance.now() - sinceMs >= stretchMs;
    },
    async rest() {
      await turn();
      sinceMs = performance.now();
    },
  };
}
