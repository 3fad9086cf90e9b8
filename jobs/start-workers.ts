import type { Redis } from 'ioredis';
import type { Staging } from '../src/contract/staging.ts';
import type { Logger } from '../src/lib/logger.ts';
import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import { SHARED_JOBS } from './catalog.ts';
import { foldPersonsHandler } from './fold-persons.ts';
import { importPartHandler } from './import-part.ts';
import { resolvePersonsHandler } from './resolve-persons.ts';
import { createJobWorker } from './worker.ts';

export interface WorkersDeps {
  readonly redisUrl: string;
  readonly redis: Redis;
  readonly staging: Staging;
  readonly migrations: OpenMigrations;
  /** Parts at once in this process. */
  readonly concurrency: number;
  readonly log: Logger;
}

/** One process's workers for every queue that is shared. Close hands their jobs back. */
export function startWorkers({ redisUrl, redis, staging, migrations, concurrency, log }: WorkersDeps): {
  close(): Promise<void>;
} {
  const deps = { redis, staging, migrations };
  const common = { redisUrl, log };
  const workers = [
    createJobWorker({
      ...common,
      queueName: SHARED_JOBS[0],
      job: 'import-part',
      concurrency,
      handler: importPartHandler(deps),
    }),
    createJobWorker({
      ...common,
      queueName: SHARED_JOBS[1],
      job: 'resolve-people',
      concurrency: 1,
      handler: resolvePersonsHandler(deps),
    }),
    createJobWorker({
      ...common,
      queueName: SHARED_JOBS[2],
      job: 'fold-people',
      concurrency: 1,
      handler: foldPersonsHandler(deps),
    }),
  ];
  return {
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}
