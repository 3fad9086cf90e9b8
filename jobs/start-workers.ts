import type { Redis } from 'ioredis';
import type { Staging } from '../src/contract/staging.ts';
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

/** One process's workers for every queue that is shared. Each waits for jobs on a connection of its own. */
export function startWorkers(workersDeps: WorkersDeps): Workers {
  const { redisUrl, redis, staging, migrations, concurrency, log } = workersDeps;
  const deps = { redis, staging, migrations };
  const connection = connectRedis(redisUrl);
  logConnectionErrors([connection], connection, log);
  const common = { redisUrl, connection, log, isWaiting: migrations.isWaiting };
  const workers = [
    createJobWorker({
      ...common,
      queueName: 'import-part',
      job: 'import-part',
      concurrency,
      handler: importPartHandler(deps),
    }),
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
      await Promise.all(workers.map((worker) => worker.close()));
      connection.disconnect();
    },
  };
}

/** Stages slices on shared storage and imports nothing: for a producer that leaves importing to others. */
export function startSliceWorker(deps: SliceWorkerDeps & { readonly connection?: Redis }): Workers {
  const { redisUrl, connection, redis, staging, migrations, produces, log } = deps;
  return createJobWorker({
    redisUrl,
    ...(connection === undefined ? {} : { connection }),
    log,
    queueName: 'stage-slice',
    job: 'stage-slice',
    concurrency: 1, // one keeps two cores busy
    handler: stageSliceHandler({ staging, redis, migrations, produces }),
  });
}
