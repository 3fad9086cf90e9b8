import type { FindingsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { sliceOf } from './bucket.ts';
import { FindingsFold } from './findings-fold.ts';
import { type FindingsRange, readFindings } from './findings-object.ts';
import { homeOf, type StoredFinding } from './stored-finding.ts';

export interface BucketRange {
  /** First bucket. */
  readonly from: number;
  /** First bucket that is no longer in it. */
  readonly to: number;
}

export interface LoadLimits {
  /** Neighbouring buckets are folded together while their gzipped findings stay under this. */
  readonly runBytes: number;
  /** Estimated memory of one fold; beyond it the ids are halved and read again for each half. */
  readonly foldBytes: number;
}

export const LOAD_LIMITS: LoadLimits = { runBytes: 1024 * 1024, foldBytes: 24 * 1024 * 1024 };

/** Enough halvings for a billion ids in one bucket; beyond that a single id is the heavy one. */
const MAX_BITS = 20;
const READS_IN_FLIGHT = 8;

/**
 * In: which findings objects exist. Out: folds that together hold every finding of the range, all
 * that is known under one id in exactly one of them. Memory stays bounded however many people there are.
 */
export async function* loadFolds(
  staging: Staging,
  findings: Iterable<FindingsIndex> | AsyncIterable<FindingsIndex>,
  range: BucketRange,
  signal: AbortSignal,
  limits: LoadLimits = LOAD_LIMITS,
): AsyncGenerator<FindingsFold> {
  for (const run of await planRuns(findings, range, limits.runBytes)) {
    yield* loadRun(staging, run, signal, limits.foldBytes);
  }
}

/** What to read for each run of neighbouring buckets: one stretch of every object that has any of them. */
async function planRuns(
  findings: Iterable<FindingsIndex> | AsyncIterable<FindingsIndex>,
  { from, to }: BucketRange,
  runBytes: number,
): Promise<FindingsRange[][]> {
  const byBucket: FindingsRange[][] = Array.from({ length: to - from }, () => []);
  for await (const { key, sections } of findings) {
    for (const { bucket, offset, length } of sections) byBucket[bucket - from]?.push({ key, offset, length });
  }

  const runs: Map<string, FindingsRange>[] = [];
  let room = 0;
  for (const ranges of byBucket) {
    const bytes = ranges.reduce((sum, { length }) => sum + length, 0);
    if (bytes > room) {
      runs.push(new Map());
      room = Math.max(runBytes, bytes);
    }
    room -= bytes;
    const run = runs.at(-1);
    for (const range of ranges) {
      const before = run?.get(range.key);
      const joined = before ? { ...before, length: range.offset + range.length - before.offset } : range;
      run?.set(range.key, joined);
    }
  }
  return runs.map((run) => [...run.values()]);
}

interface Slice {
  readonly bits: number;
  readonly value: number;
}

async function* loadRun(
  staging: Staging,
  ranges: readonly FindingsRange[],
  signal: AbortSignal,
  foldBytes: number,
): AsyncGenerator<FindingsFold> {
  const waiting: Slice[] = [{ bits: 0, value: 0 }];
  for (let slice = waiting.pop(); slice; slice = waiting.pop()) {
    let fold = new FindingsFold();
    for (let start = 0; start < ranges.length; start += READS_IN_FLIGHT) {
      signal.throwIfAborted();
      const some = ranges.slice(start, start + READS_IN_FLIGHT);
      for (const read of await Promise.all(some.map((range) => readFindings(staging, range)))) {
        for (const finding of read) if (isIn(slice, finding)) fold.addStored(finding);
        while (fold.weight > foldBytes && slice.bits < MAX_BITS) {
          const bits: number = slice.bits + 1;
          waiting.push({ bits, value: slice.value + 2 ** slice.bits });
          slice = { bits, value: slice.value };
          fold = narrowed(fold, slice);
        }
      }
    }
    yield fold;
  }
}

const isIn = ({ bits, value }: Slice, finding: StoredFinding) =>
  bits === 0 || sliceOf(homeOf(finding), bits) === value;

function narrowed(fold: FindingsFold, slice: Slice): FindingsFold {
  const kept = new FindingsFold();
  for (const finding of fold.stored()) if (isIn(slice, finding)) kept.addStored(finding);
  return kept;
}
