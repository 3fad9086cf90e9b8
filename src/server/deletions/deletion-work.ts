import type { Logger } from 'pino';
import type { Db } from '../database/db.ts';
import { type DeletionProgress, runDeletions } from './run-deletions.ts';
import { loadOldestOpen } from './store.ts';

/** The room's side of the job: what jobs/delete-events.ts is handed. */
export interface DeletionWork {
  run(signal: AbortSignal, onProgress: (progress: DeletionProgress) => void): Promise<void>;
  /** When the oldest deletion that is not verified was queued; undefined: there is none. */
  oldest(): Promise<Date | undefined>;
}

export function createDeletionWork(db: Db, log: Logger): DeletionWork {
  return {
    run: (signal, onProgress) => runDeletions(db, { signal, onProgress, log }),
    async oldest() {
      const createdAt = await loadOldestOpen(db);
      return createdAt === undefined ? undefined : new Date(createdAt);
    },
  };
}
