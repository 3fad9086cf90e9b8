import type { TargetEvent } from '../contract/event.ts';
import type { FactsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { type BatchLimits, DEFAULT_BATCH_LIMITS } from '../deliver/batch-builder.ts';
import { type FoldedSubject, foldPersons, getPropertiesMaxBytes } from './fold-persons.ts';
import { type BucketRange, type LoadLimits, loadFolds } from './load-folds.ts';
import { type PersonsTally, tallyUnmerged } from './persons-tally.ts';

export interface FoldBucketsOptions extends BucketRange {
  readonly staging: Staging;
  /** The resolved facts of all ranges: every range must be resolved first. */
  readonly facts: Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  readonly overwrite: boolean;
  readonly groupIdentifyEvent: string;
  /** Limits of the batches that the events will be packed into. @default DEFAULT_BATCH_LIMITS */
  readonly batch?: BatchLimits;
  readonly signal: AbortSignal;
  readonly limits?: LoadLimits;
}

/** Some persons or groups with all of their events, to be sent in this order. */
export interface FoldedChunk {
  readonly events: readonly TargetEvent[];
  readonly tally: PersonsTally;
}

/** A chunk ends at whichever is reached first. */
const CHUNK_EVENTS = 500;
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Second pass over persons: turns facts under their final ids into synthetic events, in bounded memory. */
export async function* foldBuckets(options: FoldBucketsOptions): AsyncGenerator<FoldedChunk> {
  const { staging, facts, from, to, signal, limits } = options;
  const shape = {
    overwrite: options.overwrite,
    groupIdentifyEvent: options.groupIdentifyEvent,
    maxBytes: getPropertiesMaxBytes(options.batch ?? DEFAULT_BATCH_LIMITS),
  };
  for await (const fold of loadFolds(staging, facts, { from, to }, signal, limits)) {
    let chunk: FoldedSubject[] = [];
    let events = 0;
    let bytes = 0;
    for (const one of foldPersons(fold, shape)) {
      chunk.push(one);
      events += one.events.length;
      bytes += one.bytes;
      if (events < CHUNK_EVENTS && bytes < CHUNK_BYTES) continue;
      yield joinSubjects(chunk);
      chunk = [];
      events = 0;
      bytes = 0;
    }
    if (chunk.length > 0) yield joinSubjects(chunk);
  }
}

function joinSubjects(chunk: readonly FoldedSubject[]): FoldedChunk {
  const countDescribed = (kind: FoldedSubject['kind']) =>
    chunk.filter((one) => one.kind === kind && one.events.length > one.pairs).length;
  return {
    events: chunk.flatMap((one) => one.events),
    tally: {
      ...tallyUnmerged(chunk.flatMap((one) => one.unmerged)),
      pairs: chunk.reduce((sum, { pairs }) => sum + pairs, 0),
      persons: countDescribed('person'),
      groups: countDescribed('group'),
    },
  };
}
