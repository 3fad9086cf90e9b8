/** What the scheduler needs of a queue; jobs/ implements it on BullMQ. */
export interface WorkQueue {
  add(work: readonly QueuedWork[]): Promise<void>;
  /** Returns a function that stops listening. Events may be missed (Redis restarts): `state` decides. */
  listen(listener: (event: WorkEvent) => void): () => void;
  /** Also lets a job go that waits for a time of a clock that was set back: it is asked for whatever is silent. */
  state(name: string, jobId: string): Promise<WorkState>;
  /** Why the queue of these jobs gives none to any worker, for an operator; undefined where it does. */
  findHold(name: string): Promise<string | undefined>;
}

export interface Work {
  /** Unique in the migration: a part's id, a file's id, a range of buckets. */
  readonly id: string;
  /** Name of the job in the catalogue. */
  readonly name: string;
  readonly payload: object;
}

export interface QueuedWork extends Work {
  readonly jobId: string;
  readonly delayMs: number;
  /** From 1; the queue gives out low ones first, so that a migration's n-th open job waits for no one's (n+1)-th. */
  readonly rank: number;
}

export type WorkEvent =
  | { readonly kind: 'settled'; readonly jobId: string; readonly state: SettledState }
  | { readonly kind: 'progress'; readonly jobId: string; readonly progress: unknown };

export type SettledState =
  | { readonly kind: 'done' }
  | { readonly kind: 'handed_back'; readonly why: string }
  | { readonly kind: 'failed'; readonly reason: string };

export type WorkState = SettledState | { readonly kind: 'open' } | { readonly kind: 'missing' };
