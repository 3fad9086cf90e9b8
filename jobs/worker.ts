import { type Job, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { within } from '../src/lib/async/timeout.ts';
import { BackhaulError, FencedOutError, getMessage, UnavailableError } from '../src/lib/errors.ts';
import type { Logger } from '../src/lib/logger.ts';
import {
  backoffMs,
  type JobName,
  type JobResult,
  type Payload,
  payloads,
  QUEUE_PREFIX,
  SURPRISE_ATTEMPTS,
} from './catalog.ts';
import { logConnectionErrors } from './log-connection-errors.ts';

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
  readonly queueName: string;
  readonly job: N;
  readonly handler: Handler<N>;
  /** Jobs at once in this process. */
  readonly concurrency: number;
  readonly log: Logger;
  /** How long a job that nobody works on any more stays taken. Default 30,000. */
  readonly lockMs?: number;
  /** Bound of close. Default 15,000. */
  readonly closeWithinMs?: number;
}

/** A lock outlives the longest stretch without a turn of the event loop (one batch) many times over. */
const LOCK_MS = 30_000;
const STALLED_CHECK_MS = 10_000;
const PROGRESS_EVERY_MS = 1_000;
/** Time to finish the batch and save; without Redis nothing ends by itself, and nothing is lost. */
const CLOSE_WITHIN_MS = 15_000;

/**
 * Takes jobs of one queue. Close hands running jobs back to the queue, unchanged but for their
 * checkpoints, so that another worker goes on at once.
 */
export function createJobWorker<N extends JobName>(deps: WorkerDeps<N>): { close(): Promise<void> } {
  const { redisUrl, queueName, job: name, handler, concurrency, log } = deps;
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const surprises = new Map<string, number>();
  let closing = false;

  const worker = new Worker(
    queueName,
    async (job: Job, token?: string, signal?: AbortSignal): Promise<JobResult> => {
      const handBack = async (): Promise<never> => {
        await job.moveToWait(token);
        throw new WaitingError();
      };
      if (closing) return handBack(); // it was on its way when the others were told to stop
      const payload = payloads[name].safeParse(job.data);
      if (!payload.success) throw new UnrecoverableError(`not a ${name} job: ${payload.error.message}`);
      const progress = throttled((value) => job.updateProgress(value));
      const run: JobRun = {
        signal: signal ?? new AbortController().signal,
        progress: progress.tell,
        log: log.child({ job: job.id }),
      };
      try {
        return await handler(payload.data as Payload<N>, run);
      } catch (error) {
        if (closing) return await handBack(); // awaited here: its rejection must not wait for the flush
        return translate(error, job, surprises, run.log);
      } finally {
        await progress.flush();
      }
    },
    {
      connection,
      prefix: QUEUE_PREFIX,
      concurrency,
      lockDuration: deps.lockMs ?? LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: 1_000, // a job that stalls has done nothing wrong: its worker was killed
      settings: { backoffStrategy: (attemptsMade: number) => backoffMs(attemptsMade) },
    },
  );
  logConnectionErrors([worker, connection], log);
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const id of jobIds) worker.cancelJob(id, 'the lock was lost');
  });

  return {
    async close() {
      closing = true;
      const closed = worker.close();
      worker.cancelAllJobs('shutdown');
      await within(deps.closeWithinMs ?? CLOSE_WITHIN_MS, closed);
      connection.disconnect();
    },
  };
}

/** Our errors, in the queue's terms. This is the only place that does so. */
function translate(error: unknown, job: Job, surprises: Map<string, number>, log: Logger): JobResult {
  if (error instanceof FencedOutError) return { kind: 'handed_back', why: error.message };
  if (error instanceof UnavailableError) {
    log.warn({ err: error.message }, 'not available; the job is tried again later');
    throw error;
  }
  if (error instanceof BackhaulError) throw new UnrecoverableError(error.message);
  log.error({ err: error }, 'a job failed in a way that was not foreseen');
  const id = job.id ?? '';
  const surprised = (surprises.get(id) ?? 0) + 1;
  surprises.set(id, surprised);
  if (surprised >= SURPRISE_ATTEMPTS) throw new UnrecoverableError(getMessage(error));
  throw error;
}

/** Progress is for people: one a second is plenty, and the last value is never held back. */
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
    tell(value: object) {
      pending = value;
      timer ??= setTimeout(flush, PROGRESS_EVERY_MS);
    },
    flush,
  };
}
