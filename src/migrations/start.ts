import { stageQueue } from '../../jobs/catalog.ts';
import { stageFileHandler } from '../../jobs/stage-file.ts';
import { startWorkers } from '../../jobs/start-workers.ts';
import { createWorkQueue } from '../../jobs/work-queue.ts';
import { createJobWorker } from '../../jobs/worker.ts';
import { orAborted } from '../lib/async/abort.ts';
import { createRuntimeMigrations } from '../runtime/open-migration.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { bindSource } from '../sources/registry.ts';
import type { Prepared } from './prepare.ts';
import { type RunEnd, runMigration } from './run/run-migration.ts';
import type { RunStatus } from './run/run-status.ts';

export interface RunPreparedOptions {
  readonly signal: AbortSignal;
  /** Whether this process also imports parts, or only `backhaul worker` processes do. */
  readonly importHere: boolean;
  readonly onStatus: (status: RunStatus) => void;
  readonly cause: 'run' | 'resume';
}

/** Files staged at once: two cores are busy with one, and its parts come in order. */
const FILES_AT_ONCE = 1;

/** Wires a prepared migration to queues and workers, drives it to its end, and puts all of it away. */
export async function runPrepared(
  site: Runtime,
  prepared: Prepared,
  { signal, importHere, onStatus, cause }: RunPreparedOptions,
): Promise<RunEnd> {
  const { redisUrl, redis, staging, log, settings } = site;
  const { record, manifest, allowed } = prepared;
  const queueName = stageQueue(record.id);
  const queue = await orAborted(
    createWorkQueue(
      redisUrl,
      {
        'stage-file': queueName,
        'import-part': 'import-part',
        'resolve-people': 'resolve-people',
        'fold-people': 'fold-people',
      },
      log,
    ),
    signal,
  );
  const migrations = createRuntimeMigrations(site);
  const workers = importHere ? startWorkers(site, migrations, settings.workerConcurrency) : undefined;

  try {
    return await runMigration(
      record,
      { manifest, baseDir: prepared.baseDir },
      prepared.files,
      { kind: cause },
      {
        staging,
        redis,
        queue,
        log,
        now: () => new Date(),
        signal,
        onStatus,
        assertVolume: async (records) => allowed.assertVolume(records),
        startStaging: async (feed, files) =>
          createJobWorker({
            redisUrl,
            queueName,
            job: 'stage-file',
            concurrency: FILES_AT_ONCE,
            log,
            handler: stageFileHandler({
              staging,
              files,
              read: bindSource(manifest.source).read,
              onPart: (part) => feed.add(part),
            }),
          }),
      },
    );
  } finally {
    await workers?.close();
    await migrations.close();
    await queue.close();
  }
}
