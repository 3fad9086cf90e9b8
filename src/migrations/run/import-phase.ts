import { z } from 'zod';
import { isStaged, listStagedFiles, type PartMeta } from '../../contract/part.ts';
import { type Receipt, recordCounts, type Tally } from '../../contract/progress.ts';
import type { Slice } from '../../contract/slice.ts';
import type { Staging } from '../../contract/staging.ts';
import { AsyncQueue } from '../../lib/async/async-queue.ts';
import { planSpace } from '../../pipeline/stage/plan-space.ts';
import { countFiles, isGroup, listFiles, type StagedSlice } from '../../pipeline/stage/slice-groups.ts';
import { toPartId, toPartsPrefix } from '../../state/keys/parts.ts';
import { listSlices, type MigrationRecord } from '../../state/migrations.ts';
import { listFileReceipts, listParts, loadFileReceipt, loadPartMeta } from '../../state/parts.ts';
import { isReceiptOf, loadReceipt } from '../../state/receipts.ts';
import type { StatusBoard } from './run-status.ts';
import { type Failure, runScheduler, type SchedulerDeps } from './scheduler.ts';
import type { Work } from './work-queue.ts';

/** What the phases of one epoch share. */
export interface EpochRun {
  readonly record: MigrationRecord;
  readonly epoch: number;
  readonly staging: Staging;
  readonly board: StatusBoard;
  /** Parts that are not done and were begun by a run before this one, and what came of them. */
  readonly begun: ReadonlyMap<string, Tally>;
  /** Throws when more is staged than may be sent without having been counted. */
  readonly assertVolume: () => void;
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

/** Receipts that are loaded at once; on S3 each is a round trip. */
const READ_AHEAD = 16;

/** Of a part of this migration; undefined where it has none. */
async function loadOwnReceipt({ staging, record }: EpochRun, part: string): Promise<Receipt | undefined> {
  const receipt = await loadReceipt(staging, record.name, part);
  return receipt && isReceiptOf(receipt, record.id) ? receipt : undefined;
}

/** Stages what is not staged yet while importing what is; returns what failed for good. */
export async function stageAndImport(
  run: EpochRun,
  slices: readonly StagedSlice[],
  feed: PartFeed,
  /** Called once all is staged, and awaited before the first part is imported. Without it, both go together. */
  beforeImport?: () => Promise<void>,
): Promise<Failure[]> {
  const { staging, board } = run;
  const prefix = toPartsPrefix(run.record);

  const wanted = listSlices(run.record);
  const described = new Map<string, number>();
  const finished = new Set<string>();
  /** With its receipt, so that a run that is continued is shown from where it was. */
  const addStaged = async (parts: readonly PartMeta[]) => {
    const receipts = await Promise.all(parts.map(({ id }) => loadOwnReceipt(run, id)));
    for (const [index, part] of parts.entries()) {
      feed.add(part);
      const receipt = receipts[index];
      const begun = run.begun.get(part.id);
      if (receipt) {
        finished.add(part.id);
        board.addFinishedPart(part.id, receipt.tally);
      } else if (begun) {
        // Until a worker says how far it is now.
        board.setProgress(part.id, begun.counts, begun.events.accepted);
      }
    }
  };
  let waiting: PartMeta[] = [];
  for await (const part of listParts(staging, prefix)) {
    if (!wanted.has(part.fileId)) continue;
    described.set(part.fileId, (described.get(part.fileId) ?? 0) + 1);
    waiting.push(part);
    if (waiting.length < READ_AHEAD) continue;
    await addStaged(waiting);
    waiting = [];
  }
  await addStaged(waiting);
  const staged = new Set<string>();
  const stagedFiles = new Set<string>();
  // Parts whose descriptions were lost are staged again, of the same records, where the source is still there. Where
  // a group of files lost several, nobody knows where each ended: the report says what is lost.
  for await (const receipt of listFileReceipts(staging, prefix)) {
    const lost = receipt.parts - (described.get(receipt.fileId) ?? 0);
    const isAgain = lost === 1 || (lost > 1 && receipt.files === undefined);
    if (isStaged(receipt) && !isAgain) {
      staged.add(receipt.fileId);
      for (const { fileId } of listStagedFiles(receipt)) stagedFiles.add(fileId);
    }
  }
  const filesOf = new Map(slices.map((slice) => [slice.fileId, countFiles(slice)]));
  // An earlier version let two top-ups at once stage the same file in a slice each.
  const isInOthers = (slice: StagedSlice) => listFiles(slice).every(({ fileId }) => stagedFiles.has(fileId));
  const missing = slices.filter((slice) => !staged.has(slice.fileId) && !isInOthers(slice));
  board.files.total = sum(filesOf.values());
  board.files.staged = board.files.total - sum(missing.map(countFiles));
  board.changed();

  // What fails on one side ends the other.
  const ending = new AbortController();
  const schedulerDeps = {
    ...run.schedulerDeps,
    signal: AbortSignal.any([run.schedulerDeps.signal, ending.signal]),
  };

  const shared = createPartReader(staging, prefix, feed);
  const stageAll = async () => {
    try {
      const failures = await runScheduler(stageWork(run, missing), {
        ...schedulerDeps,
        windowSize: 100,
        onProgress: ({ id }, progress) => {
          const reported = sliceProgress.safeParse(progress);
          if (reported.success) shared.readUpTo(id, reported.data.parts);
        },
        onSettled: async ({ id, name }) => {
          if (name === 'stage-slice') {
            if (!isStaged(await loadFileReceipt(staging, prefix, id))) return 'again';
            await shared.readAll(id);
          }
          board.files.staged += filesOf.get(id) ?? 0;
          board.changed();
          return 'settled';
        },
      });
      // What precedes the fault of a slice is imported all the same (I1).
      for (const { work } of failures) if (work.name === 'stage-slice') await shared.readAll(work.id);
      return failures;
    } finally {
      feed.parts.end();
    }
  };

  const importAll = async (staged: Promise<unknown>) => {
    if (beforeImport) {
      await staged;
      await beforeImport();
    }
    return runScheduler(importWork(run, feed, finished), {
      ...schedulerDeps,
      onProgress: ({ id }, progress) => {
        board.setRefusal(id, partTrouble.safeParse(progress).data?.waitingFor);
        const reported = partProgress.safeParse(progress);
        if (!reported.success) return;
        const { events = reported.data.delivered, ...counts } = reported.data;
        board.setProgress(id, counts, events);
      },
      onSettled: async ({ id }) => {
        const receipt = await loadOwnReceipt(run, id);
        if (!receipt) return 'again';
        board.finishPart(id, receipt.tally);
        return 'settled';
      },
    });
  };

  const stagingSide = stageAll();
  const sides = [stagingSide, importAll(stagingSide)].map((side) =>
    side.catch((error: unknown) => {
      ending.abort(error);
      throw error;
    }),
  );
  const ends = await Promise.allSettled(sides);
  for (const end of ends) if (end.status === 'rejected') throw ending.signal.reason;
  return ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
}

async function* stageWork(run: EpochRun, slices: readonly StagedSlice[]): AsyncGenerator<Work> {
  // Decided once for all of them: space that the first slices take must not be missing for the last.
  const { packing } = await planSpace(run.staging, slices);
  const ofEpoch = { migration: run.record.name, id: run.record.id, epoch: run.epoch, packing };
  const recorded = new Map(run.record.files.map((file) => [file.fileId, file]));
  for (const slice of slices) {
    const { fileId, name, bytes, modified, location } = slice;
    const changed = isGroup(slice) ? listChanged(slice.files, recorded) : [];
    yield location === 'producer'
      ? { id: fileId, name: 'stage-file', payload: { ...ofEpoch, fileId } }
      : {
          id: fileId,
          name: 'stage-slice',
          payload: {
            ...ofEpoch,
            slice: { fileId, name, bytes, modified, location },
            ...(changed.length > 0 ? { changed } : {}),
          },
        };
  }
}

/** Members that were repaired or replaced since the migration recorded them: a worker opens what was found now. */
const listChanged = (
  files: readonly Slice[],
  recorded: ReadonlyMap<string, Pick<Slice, 'bytes' | 'modified'>>,
) =>
  files
    .filter((file) => {
      const before = recorded.get(file.fileId);
      return before?.bytes !== file.bytes || before.modified !== file.modified;
    })
    .map(({ fileId, bytes, modified }) => ({ fileId, bytes, modified }));

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0);

/** Outcomes of a part that is being imported; workers of earlier versions do not count its events. */
const partProgress = z.object({ ...recordCounts.shape, events: z.number().int().nonnegative().optional() });

const partTrouble = z.object({ waitingFor: z.string() });

/** Parts of a slice that exist so far. */
const sliceProgress = z.object({ parts: z.number() });

/**
 * Feeds the parts that other processes stage, in order. What a job reports only means that it is time to
 * look: staging holds what there is.
 */
function createPartReader(staging: Staging, prefix: string, feed: PartFeed) {
  const next = new Map<string, number>();
  let reading: Promise<void> = Promise.resolve();
  const read = async (fileId: string, end: number) => {
    for (let number = next.get(fileId) ?? 0; number < end; number += 1) {
      const part = await loadPartMeta(staging, prefix, toPartId(fileId, number));
      if (!part) return;
      feed.add(part);
      next.set(fileId, number + 1);
    }
  };
  const readUpTo = (fileId: string, end: number) => {
    reading = reading.then(() => read(fileId, end));
    reading.catch(() => {}); // whoever awaits it next sees the error
  };
  return {
    readUpTo,
    async readAll(fileId: string) {
      readUpTo(fileId, Number.POSITIVE_INFINITY);
      await reading;
    },
  };
}

/** `finished`: parts that are on the board already. */
async function* importWork(
  run: EpochRun,
  feed: PartFeed,
  finished: ReadonlySet<string>,
): AsyncGenerator<Work> {
  for await (const part of feed.parts) {
    if (finished.has(part.id)) continue;
    const receipt = await loadOwnReceipt(run, part.id);
    if (receipt) run.board.addFinishedPart(part.id, receipt.tally);
    else {
      run.assertVolume();
      if (run.board.getStatus().phase !== 'import') run.board.setPhase('import');
      yield {
        id: part.id,
        name: 'import-part',
        payload: { migration: run.record.name, id: run.record.id, epoch: run.epoch, part },
      };
    }
  }
}
