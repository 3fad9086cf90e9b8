import type { Logger } from '../lib/logger.ts';

type Listener = (trouble: string | undefined) => void;

/** Tells whoever listens which bucket does not answer, and why; undefined once all do. */
export interface StorageTrouble {
  /** What a bucket is told to call: see S3Options. */
  watch(what: string): Listener;
  /** Called at once where there is trouble, and at every change. Returns what stops it. */
  listen(listener: Listener): () => void;
}

export function createStorageTrouble(log: Pick<Logger, 'info' | 'warn'>): StorageTrouble {
  const troubles = new Map<string, string>();
  const listeners = new Set<Listener>();
  const first = () => [...troubles.values()][0];
  return {
    watch: (what) => (trouble) => {
      if (trouble === undefined) {
        troubles.delete(what);
        log.info({ what }, 'S3 answers again');
      } else {
        troubles.set(what, trouble);
        log.warn({ what, err: trouble }, 'S3 does not answer; waiting for it');
      }
      for (const listener of listeners) listener(first());
    },
    listen(listener) {
      listeners.add(listener);
      if (first() !== undefined) listener(first());
      return () => listeners.delete(listener);
    },
  };
}
