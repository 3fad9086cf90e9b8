import type { PartMeta } from '../../contract/part.ts';
import { recordCounts } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { AsyncQueue } from '../../lib/async/async-queue.ts';
import type { SourceFile } from '../../sources/files/source-file.ts';
import { layout } from '../../state/keys.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listFileReceipts, listParts } from '../../state/parts.ts';
import { loadReceipt } from '../../state/receipts.ts';
import type { StatusBoard } from './run-status.ts';
import { type Failure, runScheduler, type SchedulerDeps } from './scheduler.ts';
import type { Work } from './work-queue.ts';

/** What the phases of one epoch share. */
export interface EpochRun {
  readonly record: MigrationRecord;
  readonly epoch: number;
  readonly staging: Staging;
  readonly board: StatusBoard;
  readonly schedulerDeps: Omit<SchedulerDeps, 'onSettled' | 'onProgress'>;
}

/** Parts as they are staged, so that importing starts with the first one. */
export interface PartFeed {
  readonly parts: AsyncQueue<PartMeta>;
  /** Called for every part of a file, new or staged before. */
  add(part: PartMeta): void;
}

export function createPartFeed(onNew: (part: PartMeta) => void): PartFeed {
  const known = new Set<string>();
  const parts = new AsyncQueue<PartMeta>();
  return {
    parts,
    add(part) {
      if (known.has(part.id)) return;
      known.add(part.id);
      onNew(part);
      parts.push(part);
    },
  };
}

/** Stages what is not staged yet while importing what is; returns what failed for good. */
export async function stageAndImport(
  run: EpochRun,
  files: readonly SourceFile[],
  feed: PartFeed,
): Promise<Failure[]> {
  const { staging, board } = run;
  const { prefix } = layout(run.record.name);

  const wanted = new Set(run.record.files.map(({ fileId }) => fileId));
  for await (const part of listParts(staging, prefix)) if (wanted.has(part.fileId)) feed.add(part);
  const staged = new Set<string>();
  for await (const receipt of listFileReceipts(staging, prefix)) staged.add(receipt.fileId);
  board.files.total = files.length;
  board.files.staged = files.filter((file) => staged.has(file.fileId)).length;
  board.changed();

  // What fails on one side ends the other.
  const ending = new AbortController();
  const schedulerDeps = {
    ...run.schedulerDeps,
    signal: AbortSignal.any([run.schedulerDeps.signal, ending.signal]),
  };

  const stageAll = async () => {
    const missing = files.filter((file) => !staged.has(file.fileId));
    try {
      return await runScheduler(stageWork(run, missing), {
        ...schedulerDeps,
        windowSize: 100,
        onProgress: () => {},
        onSettled: async () => {
          board.files.staged += 1;
          board.changed();
          return 'settled';
        },
      });
    } finally {
      feed.parts.end();
    }
  };

  const importAll = () =>
    runScheduler(importWork(run, feed), {
      ...schedulerDeps,
      onProgress: ({ id }, progress) => {
        const counts = recordCounts.safeParse(progress);
        if (counts.success) board.setProgress(id, counts.data);
      },
      onSettled: async ({ id }) => {
        const receipt = await loadReceipt(staging, run.record.name, id);
        if (!receipt) return 'again';
        board.finishPart(id, receipt.tally.counts);
        return 'settled';
      },
    });

  const sides = [stageAll(), importAll()].map((side) =>
    side.catch((error: unknown) => {
      ending.abort(error);
      throw error;
    }),
  );
  const ends = await Promise.allSettled(sides);
  for (const end of ends) if (end.status === 'rejected') throw ending.signal.reason;
  return ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
}

async function* stageWork(run: EpochRun, files: readonly SourceFile[]): AsyncGenerator<Work> {
  for (const { fileId } of files) {
    yield {
      id: fileId,
      name: 'stage-file',
      payload: { migration: run.record.name, epoch: run.epoch, fileId },
    };
  }
}

async function* importWork(run: EpochRun, feed: PartFeed): AsyncGenerator<Work> {
  for await (const part of feed.parts) {
    const receipt = await loadReceipt(run.staging, run.record.name, part.id);
    if (receipt) run.board.finishPart(part.id, receipt.tally.counts);
    else {
      if (run.board.getStatus().phase === 'stage') run.board.setPhase('import');
      yield {
        id: part.id,
        name: 'import-part',
        payload: { migration: run.record.name, epoch: run.epoch, part },
      };
    }
  }
}
