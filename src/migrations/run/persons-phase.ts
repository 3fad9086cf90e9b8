import { BUCKETS } from '../../state/bucket.ts';
import { layout, toRangeId, toRangeKey } from '../../state/keys.ts';
import { listReceipts } from '../../state/receipts.ts';
import type { EpochRun } from './epoch-run.ts';
import { drive, type Failure } from './scheduler.ts';
import type { Work } from './work-queue.ts';

/** Findings folded by one job, before their buckets are split among several. */
const RANGE_BYTES = 8 * 1024 * 1024;

export interface BucketRange {
  readonly from: number;
  readonly to: number;
}

/** Cuts the buckets into ranges of about equal weight; a small migration needs one job. */
export function planRanges(findingsBytes: number): BucketRange[] {
  const ranges = Math.min(BUCKETS, Math.max(1, Math.ceil(findingsBytes / RANGE_BYTES)));
  return Array.from({ length: ranges }, (_, index) => ({
    from: Math.floor((index * BUCKETS) / ranges),
    to: Math.floor(((index + 1) * BUCKETS) / ranges),
  }));
}

/**
 * People and groups, once every event is in: first each bucket decides which identities belong
 * together, then each bucket folds what is known of its people. The second step needs all of the first.
 */
export async function foldPersons(run: EpochRun): Promise<Failure[]> {
  let findingsBytes = 0;
  for await (const { findings } of listReceipts(run.staging, run.record.name)) {
    for (const section of findings?.sections ?? []) findingsBytes += section.length;
  }
  if (findingsBytes === 0) return [];

  const ranges = planRanges(findingsBytes);
  run.board.peopleJobs.total = 2 * ranges.length;
  const keys = layout(run.record.name);
  const resolved = await driveRanges(run, 'resolve-people', keys.resolved, ranges);
  return resolved.length > 0 ? resolved : driveRanges(run, 'fold-people', keys.folded, ranges);
}

async function driveRanges(
  run: EpochRun,
  name: string,
  receiptsPrefix: string,
  ranges: readonly BucketRange[],
): Promise<Failure[]> {
  const done = new Set<string>();
  for await (const { key } of run.staging.list(receiptsPrefix)) done.add(key);
  const settled = () => {
    run.board.peopleJobs.done += 1;
    run.board.changed();
    return 'settled' as const;
  };
  async function* work(): AsyncGenerator<Work> {
    for (const range of ranges) {
      const id = toRangeId(range);
      if (done.has(toRangeKey(receiptsPrefix, range))) settled();
      else yield { id, name, payload: { migration: run.record.name, epoch: run.epoch, ...range } };
    }
  }
  return drive(work(), { ...run.schedulerDeps, onProgress: () => {}, onSettled: async () => settled() });
}
