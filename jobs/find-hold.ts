import { setTimeout as wait } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import type { Logger } from '../src/lib/logger.ts';

const LOOK_EVERY_MS = 30_000;

/** Why a queue gives none of its jobs to any worker, for an operator; undefined where it does. */
export async function findHold(queue: Queue): Promise<string | undefined> {
  if (await queue.isPaused())
    return `the queue ${queue.name}, which is paused: resume it on the queue dashboard (/queues)`;
  if ((await queue.getGlobalConcurrency()) === 0)
    return `the queue ${queue.name}, whose concurrency is set to 0: raise it on the queue dashboard (/queues)`;
  return undefined;
}

/** Logs once that a queue that no run watches is held, and once that it is no more. Never rejects. */
export async function logHolds(
  queue: Queue,
  { what, log, signal, everyMs = LOOK_EVERY_MS }: LogHoldsOptions,
): Promise<void> {
  let known: string | undefined;
  while (!signal.aborted) {
    // Redis that is away is logged by its connections.
    const why = await findHold(queue).catch(() => known);
    if (why !== undefined && why !== known) log.warn(`${what} wait for ${why}`);
    if (why === undefined && known !== undefined) log.info(`${what} are run again`);
    known = why;
    await wait(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}

export interface LogHoldsOptions {
  /** What the queue is for, in the plural. */
  readonly what: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** @default 30 seconds */
  readonly everyMs?: number | undefined;
}
