import type { FactsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { getBucketSlice } from '../state/bucket.ts';
import { type FactsRange, getBucketId, readFacts, type StoredFact } from '../state/facts.ts';
import { FactFold } from './fact-fold.ts';

export interface BucketRange {
  /** First bucket. */
  readonly from: number;
  /** First bucket after the range. */
  readonly to: number;
}

export interface LoadLimits {
  /** Neighbouring buckets are folded together while their compressed facts are smaller than this. */
  readonly runBytes: number;
  /** Estimated memory of one fold; above it the ids are halved and read again for each half. */
  readonly foldBytes: number;
}

export const LOAD_LIMITS: LoadLimits = { runBytes: 1024 * 1024, foldBytes: 24 * 1024 * 1024 };

/** Enough halvings for a billion ids in one bucket; a fold that is still too large has one huge id. */
const MAX_BITS = 20;
const READS_IN_FLIGHT = 8;

/**
 * In: the objects of identity facts. Out: folds that together hold every fact of the range, with all facts
 * of one id in exactly one of them. Memory is bounded, whatever the number of persons.
 */
export async function* loadFolds(
  staging: Staging,
  indexes: Iterable<FactsIndex> | AsyncIterable<FactsIndex>,
  range: BucketRange,
  signal: AbortSignal,
  limits: LoadLimits = LOAD_LIMITS,
): AsyncGenerator<FactFold> {
  for (const run of await planRuns(indexes, range, limits.runBytes)) {
    yield* loadRun(staging, run, signal, limits.foldBytes);
  }
}

/** The bytes to read for each run of neighbouring buckets: one range of every object that has any of them. */
async function planRuns(
  indexes: Iterable<FactsIndex> | AsyncIterable<FactsIndex>,
  { from, to }: BucketRange,
  runBytes: number,
): Promise<FactsRange[][]> {
  const byBucket: FactsRange[][] = Array.from({ length: to - from }, () => []);
  for await (const { key, sections } of indexes) {
    for (const { bucket, offset, length } of sections) byBucket[bucket - from]?.push({ key, offset, length });
  }

  const runs: Map<string, FactsRange>[] = [];
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
  ranges: readonly FactsRange[],
  signal: AbortSignal,
  foldBytes: number,
): AsyncGenerator<FactFold> {
  const waiting: Slice[] = [{ bits: 0, value: 0 }];
  for (let slice = waiting.pop(); slice; slice = waiting.pop()) {
    let fold = new FactFold();
    for (let start = 0; start < ranges.length; start += READS_IN_FLIGHT) {
      signal.throwIfAborted();
      const some = ranges.slice(start, start + READS_IN_FLIGHT);
      for (const read of await Promise.all(some.map((range) => readFacts(staging, range)))) {
        for (const fact of read) if (isIn(slice, fact)) fold.addStored(fact);
        while (fold.weight > foldBytes && slice.bits < MAX_BITS) {
          const bits: number = slice.bits + 1;
          waiting.push({ bits, value: slice.value + 2 ** slice.bits });
          slice = { bits, value: slice.value };
          fold = narrow(fold, slice);
        }
      }
    }
    yield fold;
  }
}

const isIn = ({ bits, value }: Slice, fact: StoredFact) =>
  bits === 0 || getBucketSlice(getBucketId(fact), bits) === value;

function narrow(fold: FactFold, slice: Slice): FactFold {
  const kept = new FactFold();
  for (const fact of fold.stored()) if (isIn(slice, fact)) kept.addStored(fact);
  return kept;
}
