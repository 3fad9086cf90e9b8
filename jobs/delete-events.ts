import { setTimeout as wait } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { settleWithin } from '../src/lib/async/timeout.ts';
import { nextOccurrence } from '../src/lib/cron.ts';
import { getMessage, UnavailableError } from '../src/lib/errors.ts';
import type { Logger } from '../src/lib/logger.ts';
import { connectToAsk } from '../src/lib/redis/connect-redis.ts';
import { DELETION_JOB, type Payload, QUEUE_PREFIX, retryPolicy } from './catalog.ts';
import { findHold, logHolds } from './find-hold.ts';
import { logConnectionErrors } from './log-connection-errors.ts';
import { createJobWorker } from './worker.ts';

/** What the job does, passed in by the process that has the database open. */
export interface DeletionWork {
  /** Deletes all that is queued; may be stopped anywhere and run again, also beside another run. */
  run(
    signal: AbortSignal,
    onProgress: (progress: object) => void,
    projectIds?: readonly number[],
  ): Promise<void>;
  /** When the oldest one in the queue was queued; undefined when the queue is empty. */
  oldest(): Promise<Date | undefined>;
}

export interface DeletionJobsOptions {
  readonly redisUrl: string;
  /** Five fields of cron, UTC. */
  readonly schedule: string;
  readonly work: DeletionWork;
  readonly log: Logger;
  /** How often the queue is looked at. @default 30 seconds */
  readonly holdsEveryMs?: number;
}

export interface DeletionJobs {
  /**
   * Runs the job for these projects as soon as possible. Returns its id, or that of a job that is waiting
   * already and does the same or more.
   */
  ask(projectIds?: readonly number[]): Promise<string>;
  /** Undefined where the queue does not hold such a job, or no longer does. */
  state(jobId: string): Promise<DeletionJobState | undefined>;
  /** Hands a running job back to the queue. */
  close(): Promise<void>;
}

export interface DeletionJobState {
  readonly state: 'waiting' | 'active' | 'retrying' | 'completed' | 'failed';
  /** Of the last attempt, or why it waits; undefined when none has failed and the queue gives out jobs. */
  readonly reason: string | undefined;
  /** Undefined: every project. */
  readonly projectIds: readonly number[] | undefined;
}

const SCHEDULER = 'deletion-schedule';
/** How often the schedule is checked, as a Redis may have lost everything; and how soon after a failure. */
const CHECK_EVERY_MS = 3_600_000;
const RETRY_AFTER_MS = 30_000;
/** Batches are small, and a second run beside a first does no harm: a lost job may be run again soon. */
const LOCK_MS = 10_000;
/** Waiting jobs that are compared with a new one. */
const MAX_LOOKED_AT = 99;
/** The API process has a few seconds to end. */
const CLOSE_WITHIN_MS = 5_000;

/**
 * Job `delete-events`: deletes the events of deleted persons at the time that the deployment sets. One job runs
 * at a time, in whichever process takes it. The database holds what to delete and the queue is only the clock: what should
 * have run while no API process ran, or while Redis lost its memory, is detected and run then.
 */
export function startDeletionJobs({
  redisUrl,
  schedule,
  work,
  log,
  holdsEveryMs,
}: DeletionJobsOptions): DeletionJobs {
  const connection = connectToAsk(redisUrl);
  const queue = new Queue(DELETION_JOB, {
    connection,
    prefix: QUEUE_PREFIX,
    defaultJobOptions: retryPolicy,
  });
  logConnectionErrors([queue, connection], connection, log);
  const worker = createJobWorker({
    redisUrl,
    queueName: DELETION_JOB,
    job: DELETION_JOB,
    concurrency: 1,
    lockMs: LOCK_MS,
    closeWithinMs: CLOSE_WITHIN_MS,
    log,
    async handler({ projectIds }, { signal, progress }) {
      await work.run(signal, progress, projectIds);
      return { kind: 'done' };
    },
  });

  async function add(payload: Payload<'delete-events'>): Promise<string> {
    // A job that has not started sees all that is queued by now; there is no need of a second one.
    const waiting = (await queue.getWaiting(0, MAX_LOOKED_AT)).find(({ data }) => covers(data, payload));
    const { id } = waiting ?? (await queue.add(DELETION_JOB, payload));
    if (id === undefined) throw new Error('BullMQ gave a job no id');
    return id;
  }

  async function checkSchedule(): Promise<void> {
    // An operator who sets it to 0 on the queue dashboard wants none to run.
    if ((await queue.getGlobalConcurrency()) !== 0) await queue.setGlobalConcurrency(1);
    const scheduled = { because: 'scheduled' } satisfies Payload<'delete-events'>;
    const template = { name: DELETION_JOB, data: scheduled, opts: retryPolicy };
    await queue.upsertJobScheduler(SCHEDULER, { pattern: schedule, tz: 'UTC' }, template);
    const oldest = await work.oldest();
    const due = oldest && nextOccurrence(schedule, oldest);
    if (due === undefined || due.getTime() > Date.now() || (await queue.getActiveCount()) > 0) return;
    log.info({ due }, 'deletions are overdue');
    await add({ because: 'overdue' });
  }

  const closing = new AbortController();
  async function keepChecking(): Promise<void> {
    while (!closing.signal.aborted) {
      const nextMs = await checkSchedule().then(
        () => CHECK_EVERY_MS,
        (error: unknown) => {
          log.warn({ err: getMessage(error) }, 'the schedule of deletions could not be checked');
          return RETRY_AFTER_MS;
        },
      );
      await wait(nextMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }
  const checking = keepChecking();
  void logHolds(queue, { what: 'deletions', log, signal: closing.signal, everyMs: holdsEveryMs });

  return {
    ask: (projectIds) =>
      orUnavailable(add({ because: 'asked', ...(projectIds && { projectIds: [...projectIds] }) })),
    state: (jobId) => orUnavailable(loadState(queue, jobId)),
    async close() {
      closing.abort();
      await Promise.all([
        worker.close(),
        settleWithin(
          checking.then(() => queue.close()),
          CLOSE_WITHIN_MS,
        ),
      ]);
      connection.disconnect();
    },
  };
}

/** Whether one job deletes all that the other would. */
const covers = (one: Payload<'delete-events'>, other: Payload<'delete-events'>): boolean =>
  one.projectIds === undefined || (other.projectIds?.every((id) => one.projectIds?.includes(id)) ?? false);

/** Ids that BullMQ gives: any other text may be the key of something else of the queue. */
const JOB_ID = /^(?:\d{1,15}|repeat:[a-z-]{1,50}:\d{1,15})$/;

async function loadState(
  queue: Queue<Payload<'delete-events'>>,
  jobId: string,
): Promise<DeletionJobState | undefined> {
  if (!JOB_ID.test(jobId)) return undefined;
  const state = await queue.getJobState(jobId);
  const job = await queue.getJob(jobId);
  if (job === undefined || state === 'unknown') return undefined;
  const reason = job.failedReason === '' ? undefined : job.failedReason;
  const { projectIds } = job.data;
  if (state === 'active' || state === 'completed' || state === 'failed') return { state, reason, projectIds };
  if (state === 'delayed') return { state: 'retrying', reason, projectIds };
  const hold = await findHold(queue);
  return { state: 'waiting', reason: hold === undefined ? reason : `for ${hold}`, projectIds };
}

/** A Redis that is away is an UnavailableError: the client can try again. */
async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new UnavailableError(`the queue is not available: ${getMessage(error)}`, 'backoff', error);
  }
}
