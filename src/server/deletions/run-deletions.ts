import type { Logger } from 'pino';
import { getMessage, UnavailableError } from '../../lib/errors.ts';
import type { Db } from '../database/db.ts';
import { classifyError } from '../http/errors.ts';
import { planBatches } from './plan-batches.ts';
import {
  deleteBatch,
  findIdsWithEvents,
  loadNextOpen,
  loadOldestOpen,
  markFailed,
  markStarted,
  markVerified,
  type OpenDeletion,
  reclaimSpace,
} from './store.ts';

/** Events of one transaction: a fraction of a second, in which ingestion waits on the embedded database. */
const BATCH_EVENTS = 5000;
/** Ids of one query. */
const IDS_AT_ONCE = 1000;
const MAX_ERROR_CHARACTERS = 1000;

export interface DeletionProgress {
  /** Deletions verified by this run. */
  readonly deletions: number;
  /** Events deleted by this run. */
  readonly events: number;
}

/** What the job needs of this room (jobs/delete-events.ts). */
export interface DeletionWork {
  /** @default projectIds every project */
  run(
    signal: AbortSignal,
    onProgress: (progress: DeletionProgress) => void,
    projectIds?: readonly number[],
  ): Promise<void>;
  /** When the oldest deletion that is not verified was queued; undefined: there is none. */
  oldest(): Promise<Date | undefined>;
}

export function createDeletionWork(db: Db, log: Logger): DeletionWork {
  return {
    run: (signal, onProgress, projectIds) => runDeletions(db, { signal, onProgress, log, projectIds }),
    async oldest() {
      const createdAt = await loadOldestOpen(db);
      return createdAt === undefined ? undefined : new Date(createdAt);
    },
  };
}

export interface RunOptions {
  /** @default every project */
  readonly projectIds?: readonly number[] | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: DeletionProgress) => void;
  readonly log: Logger;
  /** @default 5000 */
  readonly batchEvents?: number;
}

/**
 * Runs every deletion that is not verified, including those queued meanwhile. It may stop or be killed
 * anywhere and run again, also next to another run: a deletion is verified only when none of its events is
 * found any more. One that fails is recorded and does not stop the others; the run then fails at its end,
 * so that the queue retries it.
 */
export async function runDeletions(db: Db, options: RunOptions): Promise<void> {
  try {
    await runOpen(db, options);
  } catch (error) {
    if (!isAway(error)) throw error;
    throw new UnavailableError(`the database is not available: ${getMessage(error)}`, 'backoff', error);
  }
}

async function runOpen(db: Db, options: RunOptions): Promise<void> {
  const done = { deletions: 0, events: 0 };
  const failures: unknown[] = [];
  const onBatch = (count: number) => {
    done.events += count;
    options.onProgress({ ...done });
  };
  let afterId = 0;
  for (;;) {
    const deletion = await loadNextOpen(db, afterId, options.projectIds);
    if (deletion === undefined) break;
    afterId = deletion.id;
    try {
      await deleteEvents(db, deletion, options, onBatch);
      done.deletions += 1;
      options.onProgress({ ...done });
    } catch (error) {
      if (options.signal.aborted || isAway(error)) throw error;
      options.log.error({ err: error, deletion: deletion.id }, 'deletion failed');
      await markFailed(db, deletion.id, getMessage(error).slice(0, MAX_ERROR_CHARACTERS));
      failures.push(error);
    }
  }
  if (done.events > 0) await reclaimSpace(db);
  if (failures.length > 0) throw failures[0];
}

const isAway = (error: unknown) => classifyError(error)?.status === 503;

async function deleteEvents(
  db: Db,
  deletion: OpenDeletion,
  { signal, log, batchEvents = BATCH_EVENTS }: RunOptions,
  onBatch: (count: number) => void,
): Promise<void> {
  await markStarted(db, deletion.id);
  for (const ids of slice(deletion.distinctIds)) {
    const found = await findIdsWithEvents(db, deletion, ids, batchEvents);
    for (const batch of planBatches(found, batchEvents)) {
      let from = '-infinity';
      for (let full = true; full; ) {
        signal.throwIfAborted();
        const { count, newest } = await deleteBatch(db, deletion, batch, from, batchEvents);
        from = newest ?? from;
        full = count >= batchEvents;
        onBatch(count);
      }
    }
  }
  for (const ids of slice(deletion.distinctIds)) {
    signal.throwIfAborted();
    const left = await findIdsWithEvents(db, deletion, ids, 1);
    if (left.length > 0) throw new Error(`${left.length} of its ids still have events`);
  }
  await markVerified(db, deletion.id);
  log.info({ deletion: deletion.id, project: deletion.projectId }, 'events of a deleted person are gone');
}

function* slice(ids: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < ids.length; start += IDS_AT_ONCE) yield ids.slice(start, start + IDS_AT_ONCE);
}
