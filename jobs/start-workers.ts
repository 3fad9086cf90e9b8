import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import type { Runtime } from '../src/runtime/runtime.ts';
import { SHARED_JOBS } from './catalog.ts';
import { foldPersonsHandler } from './fold-persons.ts';
import { importPartHandler } from './import-part.ts';
import { resolvePersonsHandler } from './resolve-persons.ts';
import { createJobWorker } from './worker.ts';

/** One process's workers for every queue that is shared. Close hands their jobs back. */
export function startWorkers(
  site: Runtime,
  migrations: OpenMigrations,
  concurrency: number,
): { close(): Promise<void> } {
  const { redisUrl, redis, staging, log } = site;
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
