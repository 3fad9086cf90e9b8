import type { TargetEvent } from '../contract/event.ts';
import type { FactsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { type BatchLimits, DEFAULT_BATCH_LIMITS } from '../deliver/batch-builder.ts';
import { type FoldedOne, foldPersons, propertiesMaxBytes } from './fold-persons.ts';
import { type BucketRange, type LoadLimits, loadFolds } from './load-folds.ts';
import { type PersonsTally, tallyUnmerged } from './persons-tally.ts';

export interface FoldBucketsOptions extends BucketRange {
  readonly staging: Staging;
  /** Of every resolved range: all of them must be resolved first. */
  readonly findings: Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  readonly overwrite: boolean;
  readonly groupIdentifyEvent: string;
  /** Of the batches that the events will be packed into; the default ones unless given. */
  readonly batch?: BatchLimits;
  readonly signal: AbortSignal;
  readonly limits?: LoadLimits;
}

/** Some people or groups with all of their events, to be sent in this order. */
export interface FoldedChunk {
  readonly events: readonly TargetEvent[];
  readonly people: PersonsTally;
}

/** A chunk is closed at whichever comes first. */
const CHUNK_EVENTS = 500;
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Second pass over people: findings under their final ids become synthetic events, in bounded memory. */
export async function* foldBuckets(options: FoldBucketsOptions): AsyncGenerator<FoldedChunk> {
  const { staging, findings, from, to, signal, limits } = options;
  const shape = {
    overwrite: options.overwrite,
    groupIdentifyEvent: options.groupIdentifyEvent,
    maxBytes: propertiesMaxBytes(options.batch ?? DEFAULT_BATCH_LIMITS),
  };
  for await (const fold of loadFolds(staging, findings, { from, to }, signal, limits)) {
    let chunk: FoldedOne[] = [];
    let events = 0;
    let bytes = 0;
    for (const one of foldPersons(fold, shape)) {
      chunk.push(one);
      events += one.events.length;
      bytes += one.bytes;
      if (events < CHUNK_EVENTS && bytes < CHUNK_BYTES) continue;
      yield joined(chunk);
      chunk = [];
      events = 0;
      bytes = 0;
    }
    if (chunk.length > 0) yield joined(chunk);
  }
}

function joined(chunk: readonly FoldedOne[]): FoldedChunk {
  const described = (kind: FoldedOne['kind']) =>
    chunk.filter((one) => one.kind === kind && one.events.length > one.pairs).length;
  return {
    events: chunk.flatMap((one) => one.events),
    people: {
      ...tallyUnmerged(chunk.flatMap((one) => one.setAside)),
      pairs: chunk.reduce((sum, { pairs }) => sum + pairs, 0),
      persons: described('person'),
      groups: described('group'),
    },
  };
}
