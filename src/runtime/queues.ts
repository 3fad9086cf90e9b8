import { stageQueue } from '../../jobs/catalog.ts';
import { startScheduleJobs } from '../../jobs/run-schedule.ts';
import { stageFileHandler } from '../../jobs/stage-file.ts';
import { startSliceWorker, startWorkers, type Workers } from '../../jobs/start-workers.ts';
import { createWorkQueue } from '../../jobs/work-queue.ts';
import { createJobWorker } from '../../jobs/worker.ts';
import { settleWithin } from '../lib/async/timeout.ts';
import { createUnderWay } from '../lib/async/under-way.ts';
import type { Closable, MigrationRuntime, StagingWork } from '../migrations/migration-runtime.ts';
import { keepTelling } from '../migrations/notify/keep-telling.ts';
import { createManifestOpener } from '../migrations/open-manifest.ts';
import { createOpenMigrations, type OpenMigrations } from '../migrations/open-migrations.ts';
import { runSchedule } from '../migrations/schedule/run-schedule.ts';
import { listSchedules } from '../migrations/schedule/schedules.ts';
import { UnableToRunError } from '../migrations/schedule/unable.ts';
import type { Runtime } from './runtime.ts';

/*
 * The half of a runtime that needs the queue library and the sender. Imported when it is first used: they take
 * longer to load than most commands to run.
 */

/** Files staged at once: one keeps two cores busy, and its parts come in order. */
const FILES_AT_ONCE = 1;

const CLOSE_WITHIN_MS = 2_000;

/** Of the whole process: all that runs in it shares one thread. */
const stagingHere = createUnderWay();

type Base = Pick<
  Runtime,
  'redisUrl' | 'redis' | 'staging' | 'openSourceBucket' | 'env' | 'bundled' | 'log' | 'now'
>;

export const openQueue = ({ redisUrl, log }: Base, migrationId: string) =>
  createWorkQueue(
    redisUrl,
    {
      'stage-file': stageQueue(migrationId),
      'stage-slice': 'stage-slice',
      'import-part': 'import-part',
      'resolve-people': 'resolve-people',
      'merge-people': 'merge-people',
      'fold-people': 'fold-people',
    },
    log,
  ) satisfies ReturnType<MigrationRuntime['openQueue']>;

export const startRuntimeWorkers = (
  base: Base,
  options: { readonly concurrency: number; readonly produces: string | undefined },
): Closable =>
  startOnMigrations(base, (migrations) => startWorkers({ ...base, ...options, stagingHere, migrations }));

export const startRuntimeSliceWorker = (base: Base, produces: string): Closable =>
  startOnMigrations(base, (migrations) => startSliceWorker({ ...base, produces, stagingHere, migrations }));

function startOnMigrations(base: Base, start: (migrations: OpenMigrations) => Workers): Closable {
  const { redis, staging, log, now } = base;
  const open = createManifestOpener(base);
  const migrations = createOpenMigrations({ staging, redis, log, now, open });
  const workers = start(migrations);
  return {
    async close() {
      await workers.close();
      await settleWithin(migrations.close(), CLOSE_WITHIN_MS); // one may still be read from a staging that hangs
    },
  };
}

export function startStagingWorker(
  { redisUrl, redis, staging, log }: Base,
  { migration, files, onPart }: StagingWork,
): Closable {
  const stage = stageFileHandler({ staging, redis, migration, files, onPart });
  return createJobWorker({
    redisUrl,
    queueName: stageQueue(migration.id),
    job: 'stage-file',
    concurrency: FILES_AT_ONCE,
    log,
    handler: (payload, run) => stagingHere.during(() => stage(payload, run)),
  });
}

/** Tops migrations up at the times of their schedules, and tells the webhook of all, until it is closed. */
export async function startRuntimeSchedules(
  runtime: MigrationRuntime & Pick<Runtime, 'redisUrl'>,
  { importHere }: { readonly importHere: boolean },
): Promise<Closable> {
  const { redisUrl, log } = runtime;
  const telling = await keepTelling(runtime);
  const said = new Set<string>();
  const sayOnce = (error: unknown, migration: string): never => {
    if (error instanceof UnableToRunError && !said.has(error.message)) {
      said.add(error.message);
      log.warn({ migration, reason: error.message }, 'a schedule is due that this process cannot run');
    }
    throw error;
  };
  const jobs = startScheduleJobs({
    redisUrl,
    log,
    work: {
      list: () => listSchedules(runtime),
      async run(name, signal) {
        const options = { signal, importHere };
        const result = await runSchedule(runtime, name, options).catch((error: unknown) =>
          sayOnce(error, name),
        );
        if (result.kind === 'stopped') throw new Error(result.reason);
        if (result.kind === 'not_due' || result.kind === 'under_way') return;
        const { outcome, reason, files, missed } = result.run;
        const level = outcome === 'failed' ? 'warn' : 'info';
        log[level](
          { migration: name, outcome, files, missed, ...(reason && { reason }) },
          'a schedule has run',
        );
      },
    },
  });
  return {
    async close() {
      await jobs.close();
      await telling.close();
    },
  };
}
