import type { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import type { Logger } from '../src/lib/logger.ts';
import { joinRedisOutage, type RedisOutage } from '../src/lib/redis/redis-outage.ts';
import { classifyReply, getReplyCode } from '../src/lib/redis/redis-reply.ts';

const REPEAT_AFTER_MS = 30_000;

/** Workers and queues of one connection share its part in an outage. */
const outages = new WeakMap<Redis, RedisOutage>();
const loggedAtMs = new Map<string, number>();

/**
 * While Redis is away every connection reports every attempt: a process logs one line for all of them, and one when it
 * is back. What is no outage is logged each half minute. Without a listener Node would end the process.
 */
export function logConnectionErrors(emitters: readonly unknown[], connection: Redis, log: Logger): void {
  const outage = outages.get(connection) ?? joinRedisOutage(connection, log);
  outages.set(connection, outage);
  for (const emitter of emitters as readonly EventEmitter[]) {
    emitter.on('error', (error: Error) => {
      if (isLostLock(error)) return; // the worker says so of the job
      if (isOutage(error)) return outage.meet(error.message);
      const now = performance.now();
      if (now - (loggedAtMs.get(error.message) ?? -REPEAT_AFTER_MS) < REPEAT_AFTER_MS) return;
      if (loggedAtMs.size >= MOST_MESSAGES) loggedAtMs.clear();
      loggedAtMs.set(error.message, now);
      log.warn({ err: error.message }, namesJob(error) ? JOB_GONE : 'Redis cannot be used; waiting for it');
    });
  }
}

const MOST_MESSAGES = 100;

/** `could not renew lock for job 7`, `Missing lock for job 7. moveToFinished`. */
const isLostLock = ({ message }: Error) => /\block for job\b/.test(message);

/** `Missing key for job 7. moveToFinished`. */
const namesJob = (error: Error): boolean =>
  getReplyCode(error) === undefined && /\bjob\b/i.test(error.message);
const JOB_GONE =
  'Redis no longer has a job as this process left it, such as after it lost or evicted keys; what staging holds is queued again, and nothing is lost';

/** A connection that is lost, or an answer that passes. What BullMQ says of a job is neither. */
const isOutage = (error: Error): boolean =>
  getReplyCode(error) === undefined ? !namesJob(error) : classifyReply(error) === 'outage';
