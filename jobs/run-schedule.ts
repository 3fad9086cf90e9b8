import { setTimeout as wait } from 'node:timers/promises';
import { type JobSchedulerJson, Queue } from 'bullmq';
import { settleWithin } from '../src/lib/async/timeout.ts';
import { getMessage } from '../src/lib/errors.ts';
import type { Logger } from '../src/lib/logger.ts';
import { connectRedis } from '../src/lib/redis/connect-redis.ts';
import type { ScheduleView } from '../src/migrations/schedule/schedules.ts';
import { type Payload, QUEUE_PREFIX, retryPolicy, SCHEDULE_JOB } from './catalog.ts';
import { logHolds } from './find-hold.ts';
import { logConnectionErrors } from './log-connection-errors.ts';
import { createJobWorker } from './worker.ts';

/** What the job does, and what staging knows of schedules. */
export interface ScheduleWork {
  list(): Promise<readonly ScheduleView[]>;
  /** Resolves once what is due is over; rejects with the reason of the signal where it was told to end. */
  run(migration: string, signal: AbortSignal): Promise<void>;
}

export interface ScheduleJobsOptions {
  readonly redisUrl: string;
  readonly work: ScheduleWork;
  readonly log: Logger;
  /** How often schedules are compared with staging. @default 30 seconds */
  readonly checkEveryMs?: number;
}

const CHECK_EVERY_MS = 30_000;
/** Migrations that one process drives at once because of their schedules. */
const RUNS_AT_ONCE = 4;
const CLOSE_WITHIN_MS = 15_000;

/**
 * Job `run-schedule`: tops a migration up at the times of its schedule, in whichever process takes it. Staging holds
 * what is due and the queue is only the clock: what should have run while no process was there, or while Redis lost
 * its memory, is found and run once.
 */
export function startScheduleJobs({
  redisUrl,
  work,
  log,
  checkEveryMs = CHECK_EVERY_MS,
}: ScheduleJobsOptions): { close(): Promise<void> } {
  const connection = connectRedis(redisUrl);
  const queue = new Queue<Payload<'run-schedule'>>(SCHEDULE_JOB, { connection, prefix: QUEUE_PREFIX });
  logConnectionErrors([queue, connection], connection, log);
  const worker = createJobWorker({
    redisUrl,
    connection,
    queueName: SCHEDULE_JOB,
    job: SCHEDULE_JOB,
    concurrency: RUNS_AT_ONCE,
    closeWithinMs: CLOSE_WITHIN_MS,
    log,
    async handler({ migration }, { signal }) {
      await work.run(migration, signal);
      return { kind: 'done' };
    },
  });

  async function check(): Promise<void> {
    const schedules = await work.list();
    const active = schedules.filter(({ state }) => state === 'active');
    const clocks = new Map((await queue.getJobSchedulers(0, -1)).map((clock) => [clock.key, clock]));
    for (const schedule of active) {
      // One that is written again at the very moment of a job may lose that job.
      if (!isOf(clocks.get(schedule.migration), schedule)) await setClock(schedule);
    }
    const kept = new Set(active.map(({ migration }) => migration));
    for (const key of clocks.keys()) if (!kept.has(key)) await queue.removeJobScheduler(key);
    const overdue = active.filter(({ overdueSince }) => overdueSince !== undefined);
    if (overdue.length === 0) return;
    // A run is kept in staging when it ends: until then what it is of is overdue.
    const open = await queue.getJobs(['active', 'waiting', 'prioritized']);
    const isOpen = new Set(open.map(({ data }) => data.migration));
    for (const { migration } of overdue) {
      if (isOpen.has(migration)) continue;
      // The id of a deduplication is free again once its job has ended.
      await queue.add(SCHEDULE_JOB, { migration }, { ...retryPolicy, deduplication: { id: migration } });
    }
  }

  const setClock = ({ migration, cron, timezone }: ScheduleView) =>
    queue.upsertJobScheduler(
      migration,
      { pattern: cron, tz: timezone },
      { name: SCHEDULE_JOB, data: { migration }, opts: retryPolicy },
    );

  const closing = new AbortController();
  async function keepChecking(): Promise<void> {
    while (!closing.signal.aborted) {
      await check().catch((error: unknown) =>
        log.warn({ err: getMessage(error) }, 'schedules could not be checked; they are again later'),
      );
      await wait(checkEveryMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }
  const checking = keepChecking();
  void logHolds(queue, { what: 'schedules', log, signal: closing.signal, everyMs: checkEveryMs });

  return {
    async close() {
      closing.abort();
      await Promise.all([worker.close(), settleWithin(checking, CLOSE_WITHIN_MS)]);
      connection.disconnect();
    },
  };
}

const isOf = (clock: JobSchedulerJson | undefined, { cron, timezone }: ScheduleView): boolean =>
  clock !== undefined && clock.pattern === cron && clock.tz === timezone;
