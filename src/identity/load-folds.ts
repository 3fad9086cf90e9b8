import type { FactsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { createPace, type Pace } from '../lib/async/pace.ts';
import { ORDERS_OF_BUCKET } from '../state/bucket.ts';
import { getFactOrder, parseStoredFact, type StoredFact } from '../state/facts/fact-line.ts';
import { estimateTextBytes, type FactsRange, readLines } from '../state/facts/fact-object.ts';
import { OrderedLines } from '../state/facts/ordered-lines.ts';
import { parseResolvedFact, type ResolvedFact, toOrder } from '../state/facts/resolved-facts.ts';
import { FactFold } from './fact-fold.ts';
import { ResolvedFold } from './resolved-fold.ts';

export interface BucketRange {
  /** First bucket. */
  readonly from: number;
  /** First bucket after the range. */
  readonly to: number;
}

export interface LoadLimits {
  /** Neighbouring buckets are folded together while the text of their facts is smaller than this. */
  readonly runBytes: number;
  /** Estimated memory of one fold; above it the ids are halved and read again for each half. */
  readonly foldBytes: number;
}

export const LOAD_LIMITS: LoadLimits = {
  runBytes: 6 * 1024 * 1024,
  foldBytes: 12 * 1024 * 1024,
};

/** What is folded: how to read a line of it, and where its id is among all ids. */
export interface FoldKind<Fact, Fold> {
  parse(line: string): Fact;
  /** How to read lines of an object. @default parse */
  parseOf?(key: string): (line: string) => Fact;
  /** Its first byte is the bucket. */
  getOrder(fact: Fact): number;
  create(): Fold;
  add(fold: Fold, fact: Fact): void;
  list(fold: Fold): Iterable<Fact>;
  getWeight(fold: Fold): number;
  /** Number of ids. */
  getSize(fold: Fold): number;
  /** @default every line is */
  isWanted?(order: number): boolean;
}

export const FACTS: FoldKind<StoredFact, FactFold> = {
  parse: parseStoredFact,
  getOrder: getFactOrder,
  create: () => new FactFold(),
  add: (fold, fact) => fold.addStored(fact),
  list: (fold) => fold.takeStored(),
  getWeight: ({ weight }) => weight,
  getSize: ({ size }) => size,
};

export const RESOLVED_FACTS: FoldKind<ResolvedFact, ResolvedFold> = {
  parse: parseResolvedFact,
  getOrder: ({ of }) => toOrder(of),
  create: () => new ResolvedFold(),
  add: (fold, fact) => fold.add(fact),
  list: (fold) => fold.facts(),
  getWeight: ({ weight }) => weight,
  getSize: ({ size }) => size,
};

/** Ids of a piece: few enough to be gone before the young generation is collected twice. */
export const PIECE_IDS = 256;

export interface FoldSource {
  readonly staging: Staging;
  /** Objects of facts. */
  readonly facts: Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  readonly range: BucketRange;
  readonly signal: AbortSignal;
  /** @default LOAD_LIMITS */
  readonly limits?: LoadLimits | undefined;
  /** Ids of one fold, where a run of buckets is read at once; for who wants few of them at a time. @default all */
  readonly pieceIds?: number;
  readonly pace?: Pace;
}

export interface LoadedFold<Fold> {
  readonly fold: Fold;
  /** The buckets that it, and those before and behind it, may hold ids of. */
  readonly buckets: readonly number[];
  /** What to make room for: all folds of these buckets with the first of them, and nothing with the others, or each with itself. */
  readonly more: Extent;
}

export interface Extent {
  /** No fewer than there are. */
  readonly ids: number;
  /** Of their facts, estimated. */
  readonly bytes: number;
}

const NOTHING: Extent = { ids: 0, bytes: 0 };

const READS_IN_FLIGHT = 8;

/**
 * In: the objects of identity facts. Out: folds that together hold every fact of the range, with all facts
 * of one id in exactly one of them, in the order of ids. Memory is bounded, whatever the number of persons.
 */
export async function* loadFolds<Fact, Fold>(
  kind: FoldKind<Fact, Fold>,
  source: FoldSource,
): AsyncGenerator<LoadedFold<Fold>> {
  const { runBytes, foldBytes } = source.limits ?? LOAD_LIMITS;
  for (const run of await planRuns(source.facts, source.range, runBytes)) {
    const lines = source.pieceIds === undefined ? undefined : await orderLines(kind, source, run, foldBytes);
    const { buckets } = run;
    if (lines) {
      let more: Extent = { ids: lines.sort(), bytes: lines.bytes };
      for await (const fold of foldPieces(kind, source, lines)) {
        yield { fold, buckets, more };
        more = NOTHING;
      }
      continue;
    }
    for await (const fold of loadRun(kind, source, run, foldBytes))
      yield { fold, buckets, more: { ids: kind.getSize(fold), bytes: kind.getWeight(fold) } };
  }
}

interface Run {
  readonly buckets: number[];
  readonly ranges: readonly FactsRange[];
}

/** The bytes to read for each run of neighbouring buckets: one range of every object that has any of them. */
async function planRuns(
  indexes: FoldSource['facts'],
  { from, to }: BucketRange,
  runBytes: number,
): Promise<Run[]> {
  const byBucket: { bytes: number; ranges: FactsRange[] }[] = Array.from({ length: to - from }, () => ({
    bytes: 0,
    ranges: [],
  }));
  for await (const index of indexes) {
    for (const section of index.sections) {
      const { bucket, offset, length } = section;
      const one = byBucket[bucket - from];
      if (!one) continue;
      one.ranges.push({ key: index.key, offset, length, sections: [section] });
      one.bytes += estimateTextBytes(index, length);
    }
  }

  const runs: { buckets: number[]; ranges: Map<string, FactsRange> }[] = [];
  let room = 0;
  for (const [index, { ranges, bytes }] of byBucket.entries()) {
    if (ranges.length === 0) continue;
    if (bytes > room) {
      runs.push({ buckets: [], ranges: new Map() });
      room = Math.max(runBytes, bytes);
    }
    room -= bytes;
    const run = runs.at(-1);
    run?.buckets.push(from + index);
    for (const range of ranges) {
      const before = run?.ranges.get(range.key);
      run?.ranges.set(range.key, before ? join(before, range) : range);
    }
  }
  return runs.map(({ buckets, ranges }) => ({ buckets, ranges: [...ranges.values()] }));
}

/** Of two that follow one another. */
const join = (before: FactsRange, range: FactsRange): FactsRange => ({
  ...before,
  length: range.offset + range.length - before.offset,
  sections: [...(before.sections ?? []), ...(range.sections ?? [])],
});

const isAny = () => true;

/** The lines of a run; undefined where they are too many to be in memory at once. */
async function orderLines<Fact, Fold>(
  kind: FoldKind<Fact, Fold>,
  { staging, signal, pace = createPace() }: FoldSource,
  { ranges }: Run,
  mostBytes: number,
): Promise<OrderedLines<Fact> | undefined> {
  const ordered = new OrderedLines<Fact>();
  const { getOrder, isWanted = isAny } = kind;
  for (let start = 0; start < ranges.length; start += READS_IN_FLIGHT) {
    signal.throwIfAborted();
    const some = ranges.slice(start, start + READS_IN_FLIGHT);
    const read = await Promise.all(some.map((range) => readLines(staging, range)));
    for (const [index, lines] of read.entries()) {
      if (ordered.bytes + lines.length > mostBytes) return undefined;
      const parse = kind.parseOf?.(some[index]?.key ?? '') ?? kind.parse;
      ordered.add(lines, parse, { getOrder, isWanted });
      if (pace.isDue()) await pace.rest();
    }
  }
  return ordered;
}

/** Of lines in order. All facts of one id are in one fold, and none spans two buckets. */
async function* foldPieces<Fact, Fold>(
  kind: FoldKind<Fact, Fold>,
  { pieceIds = PIECE_IDS, signal, pace = createPace() }: FoldSource,
  lines: OrderedLines<Fact>,
): AsyncGenerator<Fold> {
  let fold = kind.create();
  for (let place = 0; place < lines.length; ) {
    place = addSome(kind, fold, lines, place, pieceIds);
    if (pace.isDue()) await pace.rest();
    if (!beginsPiece(kind, fold, lines, place, pieceIds)) continue;
    yield fold;
    signal.throwIfAborted();
    fold = kind.create();
  }
  yield fold;
}

/** Lines between two calls of `isDue`, or their bytes, whichever is reached first. */
const LINES_AT_ONCE = 32;
const BYTES_AT_ONCE = 64 * 1024;

/** Adds lines up to the next piece. Returns where the one behind them is. */
function addSome<Fact, Fold>(
  kind: FoldKind<Fact, Fold>,
  fold: Fold,
  lines: OrderedLines<Fact>,
  from: number,
  pieceIds: number,
): number {
  const to = Math.min(lines.length, from + LINES_AT_ONCE);
  let place = from;
  let bytes = 0;
  do {
    bytes += lines.countBytes(place);
    kind.add(fold, lines.parse(place));
    place += 1;
  } while (place < to && bytes < BYTES_AT_ONCE && !beginsPiece(kind, fold, lines, place, pieceIds));
  return place;
}

/** Whether a line is of another id than the one before, which `fold` has no room for. */
function beginsPiece<Fact, Fold>(
  kind: FoldKind<Fact, Fold>,
  fold: Fold,
  lines: OrderedLines<Fact>,
  place: number,
  pieceIds: number,
): boolean {
  if (place === lines.length) return false;
  const order = lines.getOrder(place);
  const last = lines.getOrder(place - 1);
  return order !== last && (kind.getSize(fold) >= pieceIds || toBucket(order) !== toBucket(last));
}

const toBucket = (order: number): number => Math.floor(order / ORDERS_OF_BUCKET);

/** Orders from `low` up to, but not including, `high`. */
interface Span {
  readonly low: number;
  readonly high: number;
}

async function* loadRun<Fact, Fold>(
  kind: FoldKind<Fact, Fold>,
  { staging, signal, pace = createPace() }: FoldSource,
  { buckets, ranges }: Run,
  foldBytes: number,
): AsyncGenerator<Fold> {
  const waiting: Span[] = [
    { low: (buckets[0] ?? 0) * ORDERS_OF_BUCKET, high: ((buckets.at(-1) ?? 0) + 1) * ORDERS_OF_BUCKET },
  ];
  for (let span = waiting.pop(); span; span = waiting.pop()) {
    let fold = kind.create();
    /** Keeps the lower half, and leaves the upper one for later. */
    const halve = async ({ low, high }: Span): Promise<Span> => {
      const middle = Math.ceil((low + high) / 2);
      waiting.push({ low: middle, high });
      const kept = { low, high: middle };
      const narrowed = kind.create();
      for (const fact of kind.list(fold)) {
        if (isIn(kept, kind.getOrder(fact))) kind.add(narrowed, fact);
        if (pace.isDue()) await pace.rest();
      }
      fold = narrowed;
      return kept;
    };
    for (let start = 0; start < ranges.length; start += READS_IN_FLIGHT) {
      signal.throwIfAborted();
      const some = ranges.slice(start, start + READS_IN_FLIGHT);
      const read = await Promise.all(some.map((range) => readLines(staging, range)));
      for (const [index, lines] of read.entries()) {
        const parse = kind.parseOf?.(some[index]?.key ?? '') ?? kind.parse;
        const isWanted = (order: number) => isIn(span as Span, order) && (kind.isWanted?.(order) ?? true);
        for (const fact of lines.parse(parse, isWanted)) {
          if (isIn(span, kind.getOrder(fact))) kind.add(fold, fact);
          if (kind.getWeight(fold) > foldBytes && kind.getSize(fold) > 1 && span.high - span.low > 1)
            span = await halve(span);
          if (pace.isDue()) await pace.rest();
        }
      }
    }
    yield fold;
  }
}

const isIn = ({ low, high }: Span, order: number) => order >= low && order < high;
