import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { QUEUE_PREFIX, stageQueue } from './catalog.ts';

const LOOK_EVERY_MS = 2_000;
const KEYS_AT_ONCE = 1_000;
/** The key that BullMQ keeps of each queue. */
const MARK = ':meta';

/** A queue of files on the disk of a producer; its migration, where a job names it. */
export interface StagingQueue {
  readonly queue: Queue;
  readonly migration: string | undefined;
}

/**
 * The queues of files that producers stage from their own disks: each run has one, for as long as it is not finished.
 * Nothing but Redis knows them all. `onChange` gets them whenever one has come or gone.
 */
export function watchStagingQueues(connection: Redis, onChange: (queues: StagingQueue[]) => void) {
  const known = new Map<string, StagingQueue>();
  let lookedMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  const open = async (name: string): Promise<void> => {
    const queue = known.get(name)?.queue ?? openQueue(name, connection);
    const [job] = await queue.getJobs(['active', 'waiting', 'delayed', 'failed', 'completed'], 0, 0);
    known.set(name, { queue, migration: (job?.data as { migration?: string } | undefined)?.migration });
  };
  const look = async (): Promise<void> => {
    const found = await listNames(connection);
    const come = [...found].filter((name) => known.get(name)?.migration === undefined);
    const gone = [...known.keys()].filter((name) => !found.has(name));
    await Promise.all(come.map(open));
    await Promise.all(gone.map(async (name) => known.get(name)?.queue.close()));
    for (const name of gone) known.delete(name);
    if (come.length + gone.length > 0) onChange([...known.values()]);
  };
  return {
    /** Looks, unless somebody has a moment ago. Rejects where Redis cannot be reached. */
    look(): Promise<void> {
      if (looking) return looking;
      if (performance.now() - lookedMs < LOOK_EVERY_MS) return Promise.resolve();
      lookedMs = performance.now();
      looking = look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    close: () => Promise.allSettled([...known.values()].map(({ queue }) => queue.close())),
  };
}

function openQueue(name: string, connection: Redis): Queue {
  // Written by the producer alone: a queue that is gone must not come back because somebody looked at it.
  const queue = new Queue(name, { connection, prefix: QUEUE_PREFIX, skipMetasUpdate: true });
  queue.on('error', () => {}); // the connection is logged by whoever opened it
  return queue;
}

async function listNames(redis: Redis): Promise<Set<string>> {
  const prefix = `${QUEUE_PREFIX}:`;
  const names = new Set<string>();
  const match = `${prefix}${stageQueue('*')}${MARK}`;
  for await (const keys of redis.scanStream({ match, count: KEYS_AT_ONCE }))
    for (const key of keys as string[]) names.add(key.slice(prefix.length, -MARK.length));
  return names;
}
