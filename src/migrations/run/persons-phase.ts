import { BUCKETS } from '../../state/bucket.ts';
import { layout, toRangeId, toRangeKey } from '../../state/keys.ts';
import { listReceipts } from '../../state/receipts.ts';
import type { EpochRun } from './import-phase.ts';
import { type Failure, runScheduler } from './scheduler.ts';
import type { Work } from './work-queue.ts';

/** Bytes of identity facts that one job folds, before their buckets are split among several. */
const RANGE_BYTES = 8 * 1024 * 1024;

export interface BucketRange {
  readonly from: number;
  readonly to: number;
}

/** Cuts the buckets into ranges of about equal size; a small migration needs one job. */
function planRanges(factBytes: number): BucketRange[] {
  const ranges = Math.min(BUCKETS, Math.max(1, Math.ceil(factBytes / RANGE_BYTES)));
  return Array.from({ length: ranges }, (_, index) => ({
    from: Math.floor((index * BUCKETS) / ranges),
    to: Math.floor(((index + 1) * BUCKETS) / ranges),
  }));
}

/**
 * Persons and groups, once every event is in: first each bucket decides which identities belong together,
 * then each bucket folds what is known of its persons. The second step needs all of the first.
 */
export async function foldPersons(run: EpochRun): Promise<Failure[]> {
  let factBytes = 0;
  for await (const { findings } of listReceipts(run.staging, run.record.name)) {
    for (const section of findings?.sections ?? []) factBytes += section.length;
  }
  if (factBytes === 0) return [];

  const ranges = planRanges(factBytes);
  run.board.personJobs.total = 2 * ranges.length;
  const keys = layout(run.record.name);
  const resolved = await runRanges(run, 'resolve-people', keys.resolved, ranges);
  return resolved.length > 0 ? resolved : runRanges(run, 'fold-people', keys.folded, ranges);
}

async function runRanges(
  run: EpochRun,
  name: string,
  receiptsPrefix: string,
  ranges: readonly BucketRange[],
): Promise<Failure[]> {
  const done = new Set<string>();
  for await (const { key } of run.staging.list(receiptsPrefix)) done.add(key);
  const countSettled = () => {
    run.board.personJobs.done += 1;
    run.board.changed();
    return 'settled' as const;
  };
  async function* work(): AsyncGenerator<Work> {
    for (const range of ranges) {
      const id = toRangeId(range);
      if (done.has(toRangeKey(receiptsPrefix, range))) countSettled();
      else yield { id, name, payload: { migration: run.record.name, epoch: run.epoch, ...range } };
    }
  }
  return runScheduler(work(), {
    ...run.schedulerDeps,
    onProgress: () => {},
    onSettled: async () => countSettled(),
  });
}
