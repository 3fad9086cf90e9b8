import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Staging } from '../../contract/staging.ts';
import { FencedOutError, getMessage } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import type { SourceFile } from '../../sources/files/source-file.ts';
import { migrationKey, mirrorControl } from '../../state/checkpoints.ts';
import { layout } from '../../state/keys.ts';
import { encode, loadControl, type MigrationRecord, saveControl } from '../../state/migrations.ts';
import { keepProgressNote } from '../../state/progress-note.ts';
import { makeReport } from '../report/make-report.ts';
import type { Report } from '../report/report.ts';
import type { EpochRun } from './epoch-run.ts';
import { createPartFeed, type PartFeed, stageAndImport } from './import-phase.ts';
import { acquireLease, RedisWipedError, type TakenUp } from './lease.ts';
import { foldPersons } from './persons-phase.ts';
import { type RunStatus, StatusBoard } from './run-status.ts';
import type { Failure } from './scheduler.ts';
import type { Work, WorkQueue } from './work-queue.ts';

/** Jobs open at once in a migration. */
const WINDOW = 32;
const REDIS_WITHIN_MS = 1_000;

export interface RunDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly queue: WorkQueue;
  readonly log: Logger;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly onStatus: (status: RunStatus) => void;
  /** Throws PreflightError once more records are staged than the destination has agreed to. */
  readonly assertVolume: (records: number) => Promise<void>;
  /** Starts this producer's own worker for `stage-file` jobs. */
  readonly startStaging: (feed: PartFeed, files: readonly SourceFile[]) => { close(): Promise<void> };
}

export interface RunEnd {
  readonly report: Report;
  /** Files and parts that failed for good; empty when the migration is finished. */
  readonly failures: readonly Failure[];
}

/**
 * Drives one migration to its end: stage, import, people, report. Everything it knows it reads from
 * staging, so that it can die anywhere and be started again; when Redis loses its memory meanwhile,
 * it takes the migration up anew and goes on from the receipts (I4).
 */
export async function runMigration(
  record: MigrationRecord,
  opening: { readonly manifest: unknown; readonly baseDir: string },
  files: readonly SourceFile[],
  deps: RunDeps,
): Promise<RunEnd> {
  for (;;) {
    const taken = await acquireLease(record, opening, deps);
    try {
      return await runEpoch(record, files, taken, deps);
    } catch (error) {
      if (!(error instanceof RedisWipedError)) {
        if (!(error instanceof FencedOutError)) await noteStopped(record, getMessage(error), deps);
        throw error;
      }
      await taken.assertWanted(); // a pause that Redis has forgotten still holds
      deps.log.warn({ migration: record.name }, 'Redis lost its memory; going on from what staging holds');
    } finally {
      // Redis may be what is missing: a lease that cannot be given back ends by itself.
      await Promise.race([taken.release().catch(() => {}), wait(REDIS_WITHIN_MS, undefined, { ref: false })]);
    }
  }
}

async function runEpoch(
  record: MigrationRecord,
  files: readonly SourceFile[],
  taken: TakenUp,
  deps: RunDeps,
): Promise<RunEnd> {
  const { staging, redis, queue, signal, now } = deps;
  const board = new StatusBoard(deps.onStatus);
  const run: EpochRun = {
    record,
    epoch: taken.epoch,
    staging,
    redis,
    board,
    schedulerDeps: {
      queue,
      windowSize: WINDOW,
      jobIdOf: jobIdOf(record, taken.epoch),
      async assertRunning() {
        await taken.assertRunning();
        await deps.assertVolume(board.status().staged);
      },
      assertWanted: () => taken.assertWanted(),
      signal,
    },
  };

  await staging.remove(layout(record.name).report); // an earlier run's, which failed
  board.phase('stage');
  const note = keepProgressNote(staging, record.name, () => board.status().counts);
  const feed = createPartFeed((part) => board.partKnown(part.records));
  const stager = deps.startStaging(feed, files);
  const failures: Failure[] = [];
  try {
    failures.push(...(await stageAndImport(run, files, feed)));
  } finally {
    await stager.close();
    await note.close();
  }
  if (failures.length === 0) {
    board.phase('people');
    failures.push(...(await foldPersons(run)));
  }
  board.phase('report');
  await taken.assertRunning();
  const report = await makeReport(staging, record, { failures, peopleDone: failures.length === 0 });
  await staging.put(layout(record.name).report, encode(report));
  if (failures.length > 0) await noteStopped(record, `${failures.length} failed for good`, deps);
  else {
    await saveControl(staging, record.name, { state: 'finished', reason: '', at: now().toISOString() });
    await redis.del(migrationKey(record.id));
  }
  return { report, failures };
}

/**
 * For `status`, and for the workers of the fleet, who leave what is open to whoever resumes. Who was asked
 * to pause or was taken over keeps what control says already.
 */
async function noteStopped({ id, name }: MigrationRecord, reason: string, deps: RunDeps): Promise<void> {
  const { staging, redis, now } = deps;
  const note = async () => {
    if ((await loadControl(staging, name))?.state !== 'running') return;
    await saveControl(staging, name, { state: 'stopped', reason, at: now().toISOString() });
    const told = mirrorControl(redis, id, 'stopped').catch(() => {});
    await Promise.race([told, wait(REDIS_WITHIN_MS, undefined, { ref: false })]);
  };
  await note().catch(() => {}); // staging may be what is down; the run ends all the same
}

/** Epoch and generation make every offer a new job: BullMQ ignores an id that it still keeps. */
const jobIdOf = (record: MigrationRecord, epoch: number) => (work: Work, generation: number) =>
  [
    record.name,
    record.id.slice(0, 8),
    work.name,
    work.id.replaceAll('/', '-'),
    `e${epoch}`,
    `g${generation}`,
  ].join('_');
