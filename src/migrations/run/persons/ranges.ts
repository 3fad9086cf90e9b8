import type { BucketRange } from '../../../identity/load-folds.ts';
import { BUCKETS } from '../../../state/bucket.ts';
import { toRangeId } from '../../../state/keys/turn.ts';
import type { LedgerLock } from '../../persons/lock/ledger-lock.ts';
import type { EpochRun } from '../import-phase.ts';
import { type Failure, runScheduler } from '../scheduler.ts';
import type { Work } from '../work-queue.ts';

/** Text of identity facts that one job folds, in bytes, before their buckets are split among several. */
const RANGE_BYTES = 64 * 1024 * 1024;

/** Cuts the buckets into ranges of about equal size; a small migration needs one job. */
export const countRanges = (factBytes: number): number =>
  Math.min(BUCKETS, Math.max(1, Math.ceil(factBytes / RANGE_BYTES)));

export const cutRanges = (count: number): BucketRange[] =>
  Array.from({ length: count }, (_, index) => ({
    from: Math.floor((index * BUCKETS) / count),
    to: Math.floor(((index + 1) * BUCKETS) / count),
  }));

export interface RangesStep {
  /** Name of the job. */
  readonly job: string;
  /** Where the receipt of a range is. */
  readonly toReceiptKey: (range: BucketRange) => string;
  readonly turn: number;
  readonly ranges: readonly BucketRange[];
}

/** Offers one step of a turn as jobs, a range each, and waits for their receipts. */
export async function runRanges(
  run: EpochRun,
  lock: Pick<LedgerLock, 'assertHeld'>,
  { job, toReceiptKey, turn, ranges }: RangesStep,
): Promise<Failure[]> {
  const countSettled = () => {
    run.board.personJobs.done += 1;
    run.board.changed();
  };
  const { name: migration, id: ofMigration } = run.record;
  const ofEpoch = { migration, id: ofMigration, epoch: run.epoch };
  async function* work(): AsyncGenerator<Work> {
    for (const range of ranges) {
      const id = toRangeId(range);
      if (await run.staging.get(toReceiptKey(range))) countSettled();
      else yield { id, name: job, payload: { ...ofEpoch, turn, ...range } };
    }
  }
  return runScheduler(work(), {
    ...run.schedulerDeps,
    // A queue that keeps the job of an earlier turn would not take that of this one.
    makeJobId: (each, generation) =>
      run.schedulerDeps.makeJobId({ ...each, id: `t${turn}-${each.id}` }, generation),
    async assertRunning() {
      await run.schedulerDeps.assertRunning();
      await lock.assertHeld();
    },
    onProgress: () => {},
    onSettled: async ({ id }) => {
      const [from = 0, to = 0] = id.split('-').map(Number);
      if (!(await run.staging.get(toReceiptKey({ from, to })))) return 'again';
      countSettled();
      return 'settled';
    },
  });
}
