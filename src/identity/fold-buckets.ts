import type { FactsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { type BatchLimits, DEFAULT_BATCH_LIMITS } from '../deliver/batch-builder.ts';
import { createPace } from '../lib/async/pace.ts';
import type { KeyedHash } from '../state/ledger/keyed-hash.ts';
import type { LedgerTables } from '../state/ledger/ledger-tables.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import { type FoldedSubject, foldPersons, getPropertiesMaxBytes } from './fold-persons.ts';
import { type BucketRange, type LoadLimits, loadFolds, RESOLVED_FACTS } from './load-folds.ts';
import { countActive, emptyPersonsTally, tallyUnmerged } from './persons-tally.ts';
import { createPropertyFilter, type PropertyFilter, toGroupFields } from './property-filter.ts';
import type { LedgerAtTurn } from './resolve-persons.ts';
import type { SentChunk } from './send-chunks.ts';

export interface FoldBucketsOptions extends BucketRange {
  readonly staging: Staging;
  /** The resolved facts of all ranges: every range must be resolved first. */
  readonly facts: Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  readonly ledger: LedgerAtTurn;
  /** Its table of properties. */
  readonly tables: LedgerTables;
  /** Of all ranges: see ResolvedRange. @default none */
  readonly contradicted?: ReadonlySet<string>;
  readonly overwrite: boolean;
  readonly groupIdentifyEvent: string;
  /** Limits of the batches that the events will be packed into. @default DEFAULT_BATCH_LIMITS */
  readonly batch?: BatchLimits;
  /** Position of the last chunk that was sent before. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  readonly limits?: LoadLimits;
}

/**
 * Last pass over persons: turns facts under their final ids into synthetic events, in bounded memory and in the
 * order of keyed hashes. What a chunk will send is in the ledger before the chunk is passed on.
 */
export async function* foldBuckets(options: FoldBucketsOptions): AsyncGenerator<SentChunk> {
  const { staging, facts, from, to, signal, limits, ledger, after = '' } = options;
  const { batch = DEFAULT_BATCH_LIMITS, overwrite, groupIdentifyEvent, contradicted } = options;
  const pace = createPace();
  const shape = { groupIdentifyEvent, maxBytes: getPropertiesMaxBytes(batch) };
  const source = { staging, facts, range: { from, to }, signal, limits, pace, pieceIds: PERSONS_AT_ONCE };
  let run: Run | undefined;
  for await (const { fold, buckets, more } of loadFolds(RESOLVED_FACTS, source)) {
    if (fold.size === 0) continue;
    if (contradicted && contradicted.size > 0) {
      for (const of of fold.persons.keys()) if (contradicted.has(of)) fold.persons.delete(of);
    }
    if (run?.buckets !== buckets) {
      if (run) yield* send(run);
      run = await open(buckets);
    }
    const properties = Math.min(PROPERTIES * more.ids, more.bytes / PROPERTY_BYTES);
    if (properties > 0)
      for (const table of run.tables.values()) await table.reserve(properties / buckets.length, pace);
    for (const subject of foldPersons(fold, run.filter, shape, after)) {
      run.subjects.push(subject);
      run.bytes += subject.bytes;
      if (pace.isDue()) await pace.rest();
    }
    if (run.bytes > MOST_BYTES) yield* send(run);
  }
  if (run) yield* send(run);

  async function open(buckets: readonly number[]): Promise<Run> {
    const tables = await options.tables.load(buckets);
    const filter = createPropertyFilter({
      hash: ledger.hash,
      tables,
      at: ledger,
      // Where nobody knows what was sent before, nothing that is live may be replaced.
      overwrite: overwrite && !ledger.isForgotten,
      groupFields: toGroupFields(ledger.hash, groupIdentifyEvent),
    });
    return { buckets, tables, filter, subjects: [], bytes: 0 };
  }

  async function* send(some: Run): AsyncGenerator<SentChunk> {
    await options.tables.save(some.tables);
    const { subjects } = some;
    some.subjects = [];
    some.bytes = 0;
    yield* cutChunks(subjects, batch, ledger.hash);
  }
}

/** What is folded of some buckets at once, and not sent yet. */
interface Run {
  readonly buckets: readonly number[];
  readonly tables: ReadonlyMap<number, RecordTable>;
  readonly filter: PropertyFilter;
  subjects: FoldedSubject[];
  /** Of their values. */
  bytes: number;
}

/** Persons of a fold: what is known of them outlives a collection of garbage that comes meanwhile, and no other one. */
const PERSONS_AT_ONCE = 64;

/** Of the values of subjects that wait for the rest of their buckets. */
const MOST_BYTES = 12 * 1024 * 1024;

/** Properties of a person, and the text of one, as a guess at how large a table becomes. */
const PROPERTIES = 10;
const PROPERTY_BYTES = 32;

/** A chunk ends at whichever limit of a batch is reached first. */
function* cutChunks(
  subjects: readonly FoldedSubject[],
  limits: BatchLimits,
  hash: KeyedHash,
): Generator<SentChunk> {
  let chunk: FoldedSubject[] = [];
  let events = 0;
  let bytes = 0;
  for (const one of subjects) {
    chunk.push(one);
    events += one.events.length;
    bytes += one.bytes;
    if (events < limits.events && bytes < limits.bytes) continue;
    yield joinSubjects(chunk, hash);
    chunk = [];
    events = 0;
    bytes = 0;
  }
  if (chunk.length > 0) yield joinSubjects(chunk, hash);
}

function joinSubjects(chunk: readonly FoldedSubject[], hash: KeyedHash): SentChunk {
  const countDescribed = (kind: FoldedSubject['kind']) =>
    chunk.filter((one) => one.kind === kind && one.events.length > 0).length;
  const active = emptyPersonsTally();
  for (const { months } of chunk) if (months) countActive(active, 'destination', months);
  return {
    events: chunk.flatMap((one) => one.events),
    tally: {
      ...active,
      ...tallyUnmerged(chunk.flatMap((one) => one.unmerged)),
      persons: countDescribed('person'),
      groups: countDescribed('group'),
    },
    position: chunk.at(-1)?.of.of ?? '',
    listRecords: (event) => listRecords(chunk, event, hash),
  };
}

/** What the ledger has of the properties of one event of a chunk. */
function listRecords(chunk: readonly FoldedSubject[], event: number, hash: KeyedHash): Uint8Array[] {
  let left = event;
  for (const { of, mark, records } of chunk) {
    const inEvent = records[left];
    left -= records.length;
    if (!inEvent) continue;
    // Each hash is valid until the next one.
    const hashOne = (field: string, key: string) => Uint8Array.from(hash.property(of.of, field, key));
    const own = inEvent.keys.map((key, at) => hashOne(inEvent.entries[at] as string, key));
    return mark === undefined ? own : [...own, hashOne(mark, '')];
  }
  return [];
}
