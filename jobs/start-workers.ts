import type { OpenMigrations } from '../src/migration/open-migrations.ts';
import type { Site } from '../src/wire.ts';
import { SHARED_JOBS } from './catalog.ts';
import { foldPeopleHandler } from './fold-people.ts';
import { importPartHandler } from './import-part.ts';
import { resolvePeopleHandler } from './resolve-people.ts';
import { createJobWorker } from './worker.ts';

/** One process's workers for every queue that is shared. Close hands their jobs back. */
export function startWorkers(
  site: Site,
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
      handler: resolvePeopleHandler(deps),
    }),
    createJobWorker({
      ...common,
      queueName: SHARED_JOBS[2],
      job: 'fold-people',
      concurrency: 1,
      handler: foldPeopleHandler(deps),
    }),
  ];
  return {
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}
