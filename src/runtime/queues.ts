import { stageQueue } from '../../jobs/catalog.ts';
import { stageFileHandler } from '../../jobs/stage-file.ts';
import { startWorkers } from '../../jobs/start-workers.ts';
import { createWorkQueue } from '../../jobs/work-queue.ts';
import { createJobWorker } from '../../jobs/worker.ts';
import type { Closable, MigrationRuntime, StagingWork } from '../migrations/migration-runtime.ts';
import { createManifestOpener } from '../migrations/open-manifest.ts';
import { createOpenMigrations } from '../migrations/open-migrations.ts';
import type { Runtime } from './runtime.ts';

/*
 * The half of a runtime that needs the queue library and the sender. Imported when it is first used: they take
 * longer to load than most commands to run.
 */

/** Files staged at once: one keeps two cores busy, and its parts come in order. */
const FILES_AT_ONCE = 1;

type Base = Pick<Runtime, 'redisUrl' | 'redis' | 'staging' | 'env' | 'bundled' | 'log' | 'now'>;

export const openQueue = ({ redisUrl, log }: Base, migrationId: string) =>
  createWorkQueue(
    redisUrl,
    {
      'stage-file': stageQueue(migrationId),
      'import-part': 'import-part',
      'resolve-people': 'resolve-people',
      'fold-people': 'fold-people',
    },
    log,
  ) satisfies ReturnType<MigrationRuntime['openQueue']>;

export function startRuntimeWorkers(base: Base, concurrency: number): Closable {
  const { redisUrl, redis, staging, log, now } = base;
  const open = createManifestOpener(base);
  const migrations = createOpenMigrations({ staging, redis, log, now, open });
  const workers = startWorkers({ redisUrl, redis, staging, migrations, concurrency, log });
  return {
    async close() {
      await workers.close();
      await migrations.close();
    },
  };
}

export function startStagingWorker(
  { redisUrl, staging, log }: Base,
  { migrationId, files, read, onPart }: StagingWork,
): Closable {
  return createJobWorker({
    redisUrl,
    queueName: stageQueue(migrationId),
    job: 'stage-file',
    concurrency: FILES_AT_ONCE,
    log,
    handler: stageFileHandler({ staging, files, read, onPart }),
  });
}
