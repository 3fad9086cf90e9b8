import { setTimeout as wait } from 'node:timers/promises';

const READ_EVERY_MS = 1_000;
/** Pages that are open at once; each holds a connection. */
export const MAX_LISTENERS = 200;

type Listener<T> = (value: T | undefined) => void;

/**
 * Reads a value again and again while somebody listens, however many they are, and passes it on; undefined where it
 * could not be read. `read` decides what a reader may keep from one time to the next.
 */
export class LiveValue<T> {
  readonly #read: () => Promise<T>;
  readonly #listeners = new Set<Listener<T>>();
  #isReading = false;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  listen(listener: Listener<T>): () => void {
    this.#listeners.add(listener);
    if (!this.#isReading) void this.#keepReading();
    return () => this.#listeners.delete(listener);
  }

  async #keepReading(): Promise<void> {
    this.#isReading = true;
    while (this.#listeners.size > 0) {
      // What is down is asked again; the pages say so meanwhile.
      const value = await this.#read().catch(() => undefined);
      for (const listener of this.#listeners) listener(value);
      await wait(READ_EVERY_MS, undefined, { ref: false });
    }
    this.#isReading = false;
  }
}
