import { type Job, type JobState, Queue, QueueEvents } from 'bullmq';
import { settleWithin } from '../src/lib/async/timeout.ts';
import type { Logger } from '../src/lib/logger.ts';
import { connectRedis } from '../src/lib/redis/connect-redis.ts';
import type { MigrationQueue } from '../src/migrations/migration-runtime.ts';
import type { SettledState, WorkEvent } from '../src/migrations/run/work-queue.ts';
import { type JobResult, type MigrationJob, payloads, QUEUE_PREFIX, retryPolicy } from './catalog.ts';
import { findHold } from './find-hold.ts';
import { logConnectionErrors } from './log-connection-errors.ts';

const CLOSE_WITHIN_MS = 2_000;

/** The producer's side of the queues: adds jobs, and listens for their ends. */
export async function createWorkQueue(
  redisUrl: string,
  queueNames: Readonly<Record<MigrationJob, string>>,
  log: Logger,
): Promise<MigrationQueue> {
  const listeners = new Set<(event: WorkEvent) => void>();
  const emit = (event: WorkEvent) => {
    for (const listener of listeners) listener(event);
  };
  const queues = new Map<string, Queue>();
  const heard: QueueEvents[] = [];
  const connection = connectRedis(redisUrl);

  for (const [job, queueName] of Object.entries(queueNames)) {
    const queue = new Queue(queueName, { connection, prefix: QUEUE_PREFIX, defaultJobOptions: retryPolicy });
    // It waits for events on a connection of its own.
    const events = new QueueEvents(queueName, { connection, prefix: QUEUE_PREFIX });
    events.on('completed', ({ jobId, returnvalue }) =>
      emit({ kind: 'settled', jobId, state: parseResult(returnvalue) }),
    );
    events.on('failed', ({ jobId, failedReason }) =>
      emit({ kind: 'settled', jobId, state: { kind: 'failed', reason: failedReason } }),
    );
    events.on('progress', ({ jobId, data }) => emit({ kind: 'progress', jobId, progress: data }));
    queues.set(job, queue);
    heard.push(events);
  }
  logConnectionErrors([connection, ...queues.values(), ...heard], connection, log);
  await Promise.all(heard.map((events) => events.waitUntilReady()));
  const getQueue = (job: string) => {
    const queue = queues.get(job);
    if (!queue) throw new Error(`no queue for job ${job}`);
    return queue;
  };

  return {
    async add(work) {
      for (const { name, jobId, delayMs, rank, payload } of work) {
        await getQueue(name).add(name, payloads[name as MigrationJob].parse(payload), {
          jobId,
          delay: delayMs,
          priority: rank,
        });
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async state(name, jobId) {
      const queue = getQueue(name);
      // The state comes first: a job that was read before it ended holds no result yet.
      const state: JobState | 'unknown' = await queue.getJobState(jobId);
      const job = await queue.getJob(jobId);
      if (!job || state === 'unknown') return { kind: 'missing' };
      if (state === 'completed') return parseResult(job.returnvalue);
      if (state === 'failed') return { kind: 'failed', reason: job.failedReason ?? 'unknown' };
      if (state === 'delayed' && wasTriedLater(job)) await job.promote().catch(() => {}); // taken this very moment
      return { kind: 'open' };
    },
    findHold: (name) => findHold(getQueue(name)),
    async forget(jobIdPrefix) {
      for (const [name, queue] of queues) {
        if (name === 'stage-file') await queue.obliterate({ force: true });
        else {
          const ids = await queue.getRanges(['completed', 'failed', 'delayed', 'waiting']);
          const own = ids.filter((id) => id.startsWith(`${jobIdPrefix}_`));
          await Promise.all(own.map((id) => queue.remove(id)));
        }
      }
    },
    async close() {
      const closed = [...queues.values(), ...heard].map((each) => each.close());
      await settleWithin(Promise.allSettled(closed), CLOSE_WITHIN_MS);
      connection.disconnect();
    },
  };
}

/**
 * A job waits for its next try until a time of the clock of whoever tried it. Where that clock was set back since, or
 * is ahead of the others, it would wait as much longer.
 */
const wasTriedLater = ({ processedOn, timestamp }: Job): boolean =>
  (processedOn ?? timestamp) > Date.now() + CLOCKS_DIFFER_MS;

/** Clocks of a fleet differ by seconds. */
const CLOCKS_DIFFER_MS = 60_000;

/** A return value arrives as text in events and as an object in the job. */
function parseResult(returnvalue: unknown): SettledState {
  const value: unknown = typeof returnvalue === 'string' ? JSON.parse(returnvalue) : returnvalue;
  return value as JobResult;
}
