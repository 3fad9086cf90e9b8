import type { Redis } from 'ioredis';
import type { Staging } from '../src/contract/staging.ts';
import type { UnderWay } from '../src/lib/async/under-way.ts';
import type { Logger } from '../src/lib/logger.ts';
import { connectRedis } from '../src/lib/redis/connect-redis.ts';
import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import { importPartHandler } from './import-part.ts';
import { logConnectionErrors } from './log-connection-errors.ts';
import { personsHandler } from './persons.ts';
import { stageSliceHandler } from './stage-slice.ts';
import { createJobWorker } from './worker.ts';

const PERSONS_JOBS = ['resolve-people', 'merge-people', 'fold-people'] as const;

export interface SliceWorkerDeps {
  readonly redisUrl: string;
  readonly redis: Redis;
  readonly staging: Staging;
  readonly migrations: OpenMigrations;
  /** Migration that this process is the producer of, if any. */
  readonly produces: string | undefined;
  /** What this process stages: told of it, and heard. */
  readonly stagingHere: UnderWay;
  readonly log: Logger;
}

export interface WorkersDeps extends SliceWorkerDeps {
  /** Parts at once in this process. */
  readonly concurrency: number;
}

export interface Workers {
  /** Hands the open jobs back to their queues. */
  close(): Promise<void>;
}

/**
 * One process's workers for every queue that is shared. Each waits for jobs on a connection of its own. While the
 * process stages, it imports half as many parts at once: both take turns on its thread, and other workers wait for what
 * it stages.
 */
export function startWorkers(workersDeps: WorkersDeps): Workers {
  const { redisUrl, redis, staging, migrations, stagingHere, concurrency, log } = workersDeps;
  const deps = { redis, staging, migrations };
  const connection = connectRedis(redisUrl);
  logConnectionErrors([connection], connection, log);
  const common = { redisUrl, connection, log, isWaiting: migrations.isWaiting };
  const importing = createJobWorker({
    ...common,
    queueName: 'import-part',
    job: 'import-part',
    concurrency,
    handler: importPartHandler(deps),
  });
  const unwatch = stagingHere.watch((isStaging) =>
    importing.setConcurrency(isStaging ? Math.ceil(concurrency / 2) : concurrency),
  );
  const workers = [
    importing,
    ...PERSONS_JOBS.map((job) =>
      createJobWorker({
        ...common,
        queueName: job,
        job,
        concurrency: 1,
        handler: personsHandler(job, deps),
      }),
    ),
    startSliceWorker({ ...workersDeps, connection }),
  ];
  return {
    async close() {
      unwatch();
      await Promise.all(workers.map((worker) => worker.close()));
      connection.disconnect();
    },
  };
}

/** Stages slices on shared storage and imports nothing: for a producer that leaves importing to others. */
export function startSliceWorker(deps: SliceWorkerDeps & { readonly connection?: Redis }): Workers {
  const { redisUrl, connection, redis, staging, migrations, produces, stagingHere, log } = deps;
  const stage = stageSliceHandler({ staging, redis, migrations, produces });
  return createJobWorker({
    redisUrl,
    ...(connection === undefined ? {} : { connection }),
    log,
    queueName: 'stage-slice',
    job: 'stage-slice',
    concurrency: 1, // one keeps two cores busy
    handler: (payload, run) => stagingHere.during(() => stage(payload, run)),
  });
}
