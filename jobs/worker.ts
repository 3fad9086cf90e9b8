import { hostname } from 'node:os';
import { DelayedError, type Job, Queue, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { settleWithin } from '../src/lib/async/timeout.ts';
import {
  BackhaulError,
  FencedOutError,
  getMessage,
  UnableError,
  UnavailableError,
} from '../src/lib/errors.ts';
import type { Logger } from '../src/lib/logger.ts';
import { connectRedis } from '../src/lib/redis/connect-redis.ts';
import {
  backoffMs,
  type JobName,
  type JobResult,
  type Payload,
  payloads,
  QUEUE_PREFIX,
  UNEXPECTED_ATTEMPTS,
} from './catalog.ts';
import { logConnectionErrors } from './log-connection-errors.ts';
import { createRefusals } from './refusals.ts';
import { findOther, startRelief } from './relief.ts';

const WORKER_NAME = `${hostname()}:${process.pid}`;

export interface JobRun {
  /** Aborts when the worker shuts down or loses its lock. */
  readonly signal: AbortSignal;
  /** At most one a second reaches Redis; the last one always does. */
  readonly progress: (value: object) => void;
  readonly log: Logger;
}

export type Handler<N extends JobName> = (payload: Payload<N>, run: JobRun) => Promise<JobResult>;

export interface WorkerDeps<N extends JobName> {
  readonly redisUrl: string;
  /** For all but waiting for jobs; shared by workers of a process, and closed by whoever opened it. @default an own one */
  readonly connection?: Redis;
  readonly queueName: string;
  readonly job: N;
  readonly handler: Handler<N>;
  /** Jobs at once in this process, without those that wait while jobs of other migrations pass them. */
  readonly concurrency: number;
  /** Whether the jobs of a migration wait in this process, for a budget or a destination. @default never */
  readonly isWaiting?: (migration: string) => boolean;
  readonly log: Logger;
  /** How long the job of a worker that was killed stays locked. @default 30,000 */
  readonly lockMs?: number;
  /** How long the jobs of a migration that this process cannot do are left to others. @default 10,000 */
  readonly refuseForMs?: number;
  /** Bound of close. @default 10,000 */
  readonly closeWithinMs?: number;
}

export interface JobWorker {
  /** Jobs that are under way beyond it come to their ends. */
  setConcurrency(concurrency: number): void;
  close(): Promise<void>;
}

/** Many times the longest time that the event loop is blocked (one batch). */
const LOCK_MS = 30_000;
const STALLED_CHECK_MS = 10_000;
const PROGRESS_EVERY_MS = 1_000;
/** The dashboard shows how many jobs ended in each minute of a week. */
const METRICS_MINUTES = 7 * 24 * 60;
/** Time to finish the batch and save; without Redis nothing ends by itself, and nothing is lost. */
const CLOSE_WITHIN_MS = 10_000;
/** A job that was just seen in the queue is taken by then, if not by another process. */
const TAKEN_WITHIN_MS = 2_000;
const PUT_BACK_MS = 3_000;

/**
 * Takes jobs of one queue. Close hands running jobs back to the queue, unchanged but for their checkpoints, so
 * that another worker continues them at once.
 */
export function createJobWorker<N extends JobName>(deps: WorkerDeps<N>): JobWorker {
  const { redisUrl, queueName, job: name, handler, log } = deps;
  let { concurrency } = deps;
  /** Slots that jobs are taken for. BullMQ takes none for further ones before a job ends, where all were taken. */
  let slots = concurrency;
  const connection = deps.connection ?? connectRedis(redisUrl);
  const unexpected = new Map<string, number>();
  /** The jobs that are locked for this worker, by id; one that was given back is none of them, whoever has it. */
  const locked = new Map<string, { readonly token: string | undefined; isLost: boolean }>();
  const queue = new Queue(queueName, { connection, prefix: QUEUE_PREFIX });
  const refusals = createRefusals(deps.refuseForMs);
  const isWaiting = (migration: string) => refusals.has(migration) || deps.isWaiting?.(migration) === true;
  /** One for each slot that is taken: a job that was given back may come to another slot meanwhile. */
  const inSlots = new Set<{ readonly migration: string }>();
  const workers = new Set<Worker>();
  let closing = false;

  /**
   * For other processes, at once: a try of one that cannot do the work is none, and counts as none. Where jobs of
   * other migrations are behind it, it steps aside for a moment, so that this process comes to them.
   */
  const giveBack = async (job: Job, token?: string): Promise<never> => {
    const isInTheWay = await findOther({ queue, isWaiting });
    // With no delay too: of a job with a priority that is moved to wait, BullMQ tells no idle worker for 5 s.
    await job.moveToDelayed(Date.now() + (isInTheWay ? PUT_BACK_MS : 0), token);
    locked.delete(job.id ?? '');
    throw isInTheWay ? new DelayedError() : new LeftToOthersError();
  };

  const work: Processor = async (job, token, signal): Promise<JobResult> => {
    const lock = { token, isLost: false };
    locked.set(job.id ?? '', lock);
    const handBack = async (): Promise<never> => {
      await job.moveToWait(token);
      throw new WaitingError();
    };
    if (closing) return handBack(); // it was fetched while the others were being cancelled
    if (refusals.includes(getMigration(job), job.data?.epoch)) return giveBack(job, token);
    const payload = payloads[name].safeParse(job.data);
    if (!payload.success) throw new UnrecoverableError(`not a ${name} job: ${payload.error.message}`);
    const progress = throttled((value) => job.updateProgress(value));
    const run: JobRun = {
      signal: signal ?? new AbortController().signal,
      progress: progress.update,
      log: log.child({ job: job.id }),
    };
    const assertLocked = () => {
      if (!lock.isLost) return;
      run.log.warn(
        'this process stood still, or could not use Redis, for longer than a job is reserved for it: another worker continues the job where it was saved last, and nothing is lost. Where this happens often, the machine has too much to do, or is put to sleep',
      );
      throw new WaitingError();
    };
    try {
      const result = await handler(payload.data as Payload<N>, run);
      assertLocked();
      return result;
    } catch (error) {
      if (error instanceof WaitingError) throw error;
      assertLocked();
      if (closing) return await handBack(); // awaited here: its rejection must not wait for the flush
      if (error instanceof UnableError) {
        refusals.add(getMigration(job), job.data?.epoch);
        return await giveBack(job, token);
      }
      return translate(error, job, unexpected, run.log);
    } finally {
      if (locked.get(job.id ?? '') === lock) locked.delete(job.id ?? '');
      await progress.flush();
    }
  };

  const workInSlot: Processor = async (job, token, signal) => {
    const slot = { migration: getMigration(job) };
    inSlots.add(slot);
    try {
      return await work(job, token, signal);
    } catch (error) {
      // An empty slot would take the same job again.
      if (error instanceof LeftToOthersError) await refusals.ended(slot.migration);
      throw error;
    } finally {
      inSlots.delete(slot);
      slots = concurrency;
    }
  };

  /** Puts the jobs in front back, for a moment, that would only wait too. */
  const workBeside =
    (onTaken: () => void): Processor =>
    async (job, token, signal) => {
      if (!closing && isWaiting(getMigration(job))) {
        await job.moveToDelayed(Date.now() + PUT_BACK_MS, token);
        throw new DelayedError();
      }
      onTaken();
      return work(job, token, signal);
    };

  /** It may be an earlier lock of a job that ended or was given back meanwhile, and came again. */
  const noteLost = async (worker: Worker, id: string): Promise<void> => {
    const lock = locked.get(id);
    if (!lock || (await connection.get(queue.toKey(`${id}:lock`)).catch(() => null)) === lock.token) return;
    lock.isLost = true;
    worker.cancelJob(id, 'the lock was lost');
  };

  const startWorker = (process: Processor, width: number): Worker => {
    const worker = new Worker(queueName, process, {
      connection,
      prefix: QUEUE_PREFIX,
      name: WORKER_NAME, // the dashboard shows it as what processed a job
      concurrency: width,
      lockDuration: deps.lockMs ?? LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: 1_000, // a job that stalls has done nothing wrong: its worker was killed
      metrics: { maxDataPoints: METRICS_MINUTES },
      settings: { backoffStrategy: (attemptsMade: number) => backoffMs(attemptsMade) },
    });
    logConnectionErrors([worker], connection, log);
    worker.on('lockRenewalFailed', (jobIds) => {
      for (const id of jobIds) void noteLost(worker, id);
    });
    workers.add(worker);
    return worker;
  };

  /** Works on one job beside the slots; resolves when it has ended, or there was none. */
  const workOnOne = async (): Promise<void> => {
    if (closing) return;
    let worker: Worker | undefined;
    const taken = new Promise<void>((resolve) => {
      worker = startWorker(workBeside(resolve), 1);
    });
    await settleWithin(taken, TAKEN_WITHIN_MS);
    if (!worker) return;
    await worker.close(); // takes no other job, and lets this one end
    workers.delete(worker);
  };

  if (!deps.connection) logConnectionErrors([connection], connection, log);
  const inSlot = startWorker(workInSlot, concurrency);
  const relief = startRelief({
    queue,
    connection,
    isBlocked: () => inSlots.size >= slots && [...inSlots].every((slot) => isWaiting(slot.migration)),
    isWaiting,
    workOnOne,
    most: Math.max(2, concurrency),
    log,
  });

  return {
    setConcurrency(wanted) {
      concurrency = wanted;
      inSlot.concurrency = wanted;
      if (wanted < slots || inSlots.size < slots) slots = wanted;
    },
    async close() {
      closing = true;
      relief.close();
      refusals.endAll();
      const closed = [...workers].map((worker) => worker.close());
      for (const worker of workers) worker.cancelAllJobs('the process that ran it was stopped');
      await settleWithin(Promise.all(closed), deps.closeWithinMs ?? CLOSE_WITHIN_MS);
      if (!deps.connection) connection.disconnect();
    },
  };
}

/** A job that is open to other processes, while its slot here stays empty. */
class LeftToOthersError extends DelayedError {}

type Processor = (job: Job, token?: string, signal?: AbortSignal) => Promise<JobResult>;

/** Its id: several migrations may have one name. */
const getMigration = (job: Job): string => String(job.data?.id);

/** Translates our errors into the queue's. No other place does. */
function translate(error: unknown, job: Job, unexpected: Map<string, number>, log: Logger): JobResult {
  if (error instanceof FencedOutError) return { kind: 'handed_back', why: error.message };
  if (error instanceof UnavailableError) {
    log.warn({ err: error.message }, 'not available; the job is tried again later');
    throw error;
  }
  if (error instanceof BackhaulError) throw new UnrecoverableError(error.message);
  log.error({ err: error }, 'a job failed unexpectedly');
  const id = job.id ?? '';
  const failures = (unexpected.get(id) ?? 0) + 1;
  unexpected.set(id, failures);
  if (failures >= UNEXPECTED_ATTEMPTS) throw new UnrecoverableError(getMessage(error));
  throw error;
}

/** Sends at most one value a second; flush sends the last one. */
function throttled(send: (value: object) => Promise<void>) {
  let pending: object | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const value = pending;
    pending = undefined;
    if (value) await send(value).catch(() => {}); // progress that is lost costs nothing
  };
  return {
    update(value: object) {
      pending = value;
      timer ??= setTimeout(flush, PROGRESS_EVERY_MS);
    },
    flush,
  };
}
