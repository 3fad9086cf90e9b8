import type { Queryable } from '../database/db.ts';

/**
 * What other rooms may ask of deletions. app.ts hands it in, made of deletions/queue-deletion.ts and
 * deletions/release-resent.ts, so that no room imports another.
 */
export interface Deletions {
  /**
   * Notes that the events of a person are to go, when the job comes round. Call it in the transaction that
   * removes the person, under the lock of the project: what was ingested before goes, what comes after stays.
   */
  queue(tx: Queryable, wanted: WantedDeletion): Promise<void>;
  /**
   * Of stored events that are sent again, lets go those that are to be deleted anyway: they may come in
   * anew. True: some may be gone, and no more go before the end of the transaction. Call it under the lock
   * of the project, on which all of it rests.
   */
  release(tx: Queryable, projectId: number, uuids: readonly string[]): Promise<boolean>;
}

export interface WantedDeletion {
  readonly projectId: number;
  readonly personUuid: string;
  /** All ids that the person has at this moment. */
  readonly distinctIds: readonly string[];
  /** Who asked for it; null: the system itself. */
  readonly userId: number | null;
}

/** The job that works off what is queued, as jobs/delete-events.ts runs it. */
export interface DeletionRuns {
  /** Has it run as soon as it can; says the job's id. UnavailableError while the queue is away. */
  ask(): Promise<string>;
  /** Undefined: there is no such job (any more). */
  state(jobId: string): Promise<DeletionRunState | undefined>;
}

export interface DeletionRunState {
  readonly state: 'waiting' | 'active' | 'retrying' | 'completed' | 'failed';
  /** Why the last attempt failed; undefined when none has. */
  readonly reason: string | undefined;
}
