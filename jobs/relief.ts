import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { getMessage } from '../src/lib/errors.ts';
import type { Logger } from '../src/lib/logger.ts';
import { logConnectionErrors } from './log-connection-errors.ts';

/** How often a process looks whether its slots wait. */
const LOOK_EVERY_MS = 500;
/** A migration has at most 32 jobs open in a queue of parts. */
const LOOK_AT = 100;

export interface ReliefDeps {
  readonly queue: Queue;
  /** That of the queue. */
  readonly connection: Redis;
  /** Whether all slots are taken by jobs of migrations that wait. */
  readonly isBlocked: () => boolean;
  readonly isWaiting: (migrationId: string) => boolean;
  /** Works on a job of such a migration beside the slots, and resolves when it has ended or there was none. */
  readonly workOnOne: () => Promise<void>;
  /** Jobs at once beside the slots; bounds the memory of jobs that wait. */
  readonly most: number;
  readonly log: Logger;
}

/**
 * A job that waits for its budget or its destination keeps its part in memory, but no slot: while all slots wait
 * so, jobs of other migrations are worked on beside them.
 */
export function startRelief(deps: ReliefDeps): { close(): void } {
  logConnectionErrors([deps.queue], deps.connection, deps.log);
  let underWay = 0;
  let looking = false;

  const look = async () => {
    if (looking || underWay >= deps.most || !deps.isBlocked()) return;
    looking = true;
    try {
      if (!(await findOther(deps))) return;
      underWay += 1;
      const end = () => {
        underWay -= 1;
      };
      deps.workOnOne().then(end, end);
    } catch (error) {
      deps.log.debug({ err: getMessage(error) }, 'the queue could not be looked at'); // the next look is soon
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return { close: () => clearInterval(timer) };
}

/** Whether one of the next jobs of the queue is of a migration that does not wait here. */
export async function findOther({
  queue,
  isWaiting,
}: Pick<ReliefDeps, 'queue' | 'isWaiting'>): Promise<boolean> {
  const next = await queue.getJobs(['waiting', 'prioritized'], 0, LOOK_AT - 1, true);
  return next.some((job) => {
    const id: unknown = job?.data?.id;
    return typeof id === 'string' && !isWaiting(id);
  });
}
