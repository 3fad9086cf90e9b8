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

export const createPace = (stretchMs = STRETCH_MS): Pace => new Stretches(stretchMs);

/** A class: V8 takes the same method of two of them for one function, and compiles their callers once. */
class Stretches implements Pace {
  readonly #longestMs: number;
  #sinceMs = performance.now();
  #items = 0;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  isDue(): boolean {
    this.#items += 1;
    return this.#items % ITEMS_A_LOOK === 0 && performance.now() - this.#sinceMs >= this.#longestMs;
  }

  async rest(): Promise<void> {
    await turn();
    this.#sinceMs = performance.now();
  }
}
