import { z } from 'zod';
import { type FactsIndex, factsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { createPace, type Pace } from '../lib/async/pace.ts';
import { BucketLines } from '../state/facts/bucket-lines.ts';
import { saveLines } from '../state/facts/fact-object.ts';
import {
  type Merge,
  MergeLines,
  type MergesIndex,
  mergesIndex,
  OF_DIGITS,
  parseResolvedFact,
  type ResolvedFact,
  writeResolvedFact,
} from '../state/facts/resolved-facts.ts';
import { toMergesKey, toResolvedFactsKey } from '../state/keys/turn.ts';
import type { LedgerTables } from '../state/ledger/ledger-tables.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import { bucketVersions } from '../state/ledger/versions.ts';
import { type Connected, loadRenames } from './connect/connect-persons.ts';
import { type BucketRange, FACTS, LOAD_LIMITS, type LoadLimits, loadFolds, PIECE_IDS } from './load-folds.ts';
import { loadDoubted } from './merges/doubted-users.ts';
import {
  addUnmerged,
  countActive,
  emptyPersonsTally,
  type PersonsTally,
  personsTally,
  type Unmerged,
} from './persons-tally.ts';
import { type LateMerge, recallValues, type SentValues } from './recall-values.ts';
import { type LedgerAtTurn, type ResolvedSink, resolvePersons } from './resolve-persons.ts';
import { ResolvedFold } from './resolved-fold.ts';

/** The result of resolving a range of buckets: where its merges are, and the facts under their final ids, for every bucket. */
export const resolvedRange = z.strictObject({
  facts: z.array(factsIndex),
  merges: z.array(mergesIndex),
  people: personsTally,
  /** Users, as keyed hashes, that nothing may be merged into and of which nothing is sent. */
  contradicted: z.array(z.string()).exactOptional(),
  /** Of the buckets of the ledger that hold what was decided. */
  versions: bucketVersions.exactOptional(),
});
export type ResolvedRange = z.infer<typeof resolvedRange>;

export interface ResolveBucketsOptions extends BucketRange {
  readonly staging: Staging;
  /**
   * Folder of the facts under their final ids. It belongs to this writer alone, because an index names
   * offsets in its objects (I5).
   */
  readonly prefix: string;
  /** The identity facts of all parts. */
  readonly facts: Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  /** What follows from what the vendor says. @default nothing */
  readonly connected?: Connected | undefined;
  readonly ledger: LedgerAtTurn;
  /** Its table of ids. */
  readonly tables: LedgerTables;
  /** The one of ids that got another one; see loadDoubted. @default none did */
  readonly earlierIds?: LedgerTables | undefined;
  /** For migrations whose values replace live ones. Without it, what was sent under an id is not looked for. */
  readonly sent?: SentValues | undefined;
  readonly signal: AbortSignal;
  readonly limits?: LoadLimits;
}

/**
 * First pass over persons. An accepted anonymous id and its user are usually in different buckets, so this
 * pass only decides, writes every fact under its final id, and enters into the ledger what it decided; later
 * passes send the merges and fold the facts. Repeating a range in the same turn yields the same facts.
 */
export async function resolveBuckets(options: ResolveBucketsOptions): Promise<ResolvedRange> {
  const { from, to, signal, ledger, connected, limits = LOAD_LIMITS } = options;
  const renames = connected && (await loadRenames(options.staging, connected));
  const pace = createPace();
  const writer = new ResolvedWriter(options, limits.foldBytes / 4, pace);
  let open: Map<number, RecordTable> = new Map();
  const looksUp = ledger.sharedDevices === 'last' && options.earlierIds !== undefined;
  const passOn = async (buckets: readonly number[], atLeast: number) => {
    const late = writer.takeLateMerges(atLeast);
    if (late.length > 0) await passOnSent(late, options, buckets, writer, pace);
  };
  let openBuckets: readonly number[] = [];

  const source = {
    staging: options.staging,
    facts: connected ? withConnected(options.facts, connected) : options.facts,
    range: { from, to },
    signal,
    limits,
    pace,
    // Where users are looked up in other buckets, once for all ids of a fold.
    ...(looksUp ? {} : { pieceIds: PIECE_IDS }),
  };
  for await (const { fold, buckets, more } of loadFolds(FACTS, source)) {
    if (openBuckets !== buckets) {
      await passOn(openBuckets, 1);
      await options.tables.save(open);
      open = await options.tables.load(buckets);
      openBuckets = buckets;
    }
    // With the time of its merge, an id has two records.
    for (const table of open.values()) await table.reserve((2 * more.ids) / buckets.length, pace);
    const doubted =
      looksUp && options.earlierIds
        ? await loadDoubted(fold, renames, { hash: ledger.hash, earlierIds: options.earlierIds, pace })
        : undefined;
    await resolvePersons(fold, ledger, open, writer, pace, { renames, doubted });
    await passOn(buckets, LATE_AT_ONCE);
    await writer.flushWhenLarge();
  }
  await passOn(openBuckets, 1);
  const resolved = await writer.end();
  // Last: what a turn enters as sent must be where a resumed turn finds it.
  await options.tables.save(open);
  return resolved;
}

async function* withConnected(
  facts: ResolveBucketsOptions['facts'],
  connected: Connected,
): AsyncGenerator<FactsIndex> {
  yield* facts;
  yield* connected.facts;
}

async function passOnSent(
  late: readonly LateMerge[],
  { staging, ledger, sent }: ResolveBucketsOptions,
  buckets: readonly number[],
  sink: ResolvedSink,
  pace: Pace,
): Promise<void> {
  if (!sent) {
    for (const { of, newestMs } of late) sink.fact({ kind: 'floor', of, timeMs: newestMs });
    return;
  }
  // What others sent under an id is not sent now: it is only known up to when anything may be live.
  const wanted = ledger.purpose === 'take_in' ? late.map((one) => ({ ...one, user: undefined })) : late;
  const { facts, unmerged } = await recallValues(wanted, { staging, ledger, sent, buckets, pace });
  for (const fact of facts) sink.fact(fact);
  for (const one of unmerged) sink.unmerged(one);
}

/** Late merges of some buckets that are kept in memory: for each time all that was sent of the buckets is read. */
const LATE_AT_ONCE = 10_000;

/** All facts about one person or group as the fewest lines. */
function joinFacts(lines: readonly string[], into: BucketLines): void {
  const fold = new ResolvedFold();
  for (const line of lines) fold.add(parseResolvedFact(line));
  for (const fact of fold.facts()) writeResolvedFact(fact, into);
}

/** Merges of one object: what one step of sending them holds in memory. */
const MERGES_AT_ONCE = 10_000;

/** Writes what was resolved; a class, as `Stretches` is. */
class ResolvedWriter implements ResolvedSink {
  readonly #options: ResolveBucketsOptions;
  readonly #flushBytes: number;
  readonly #pace: Pace;
  readonly #countsIds: boolean;
  readonly #people: PersonsTally;
  readonly #facts: FactsIndex[] = [];
  readonly #merges: MergesIndex[] = [];
  readonly #contradicted: string[] = [];
  #lines = new BucketLines();
  /** To be saved; all but the last one are full. */
  #pairs: MergeLines[] = [];
  #lastPairs: MergeLines | undefined;
  #late: LateMerge[] = [];

  constructor(options: ResolveBucketsOptions, flushBytes: number, pace: Pace) {
    const { sharedDevices = 'none' } = options.ledger;
    this.#options = options;
    this.#flushBytes = flushBytes;
    this.#pace = pace;
    // Where the vendor has persons of its own, these are counted.
    this.#countsIds = !options.connected?.hasPersons;
    this.#people = {
      ...emptyPersonsTally(),
      ...(sharedDevices === 'none' ? {} : { sharedDevices }),
    };
  }

  merge([userId, anonId, time]: Merge): void {
    if (!this.#lastPairs || this.#lastPairs.count === MERGES_AT_ONCE) {
      this.#lastPairs = new MergeLines();
      this.#pairs.push(this.#lastPairs);
    }
    this.#lastPairs.add(userId, anonId, time);
  }

  lateMerge(one: LateMerge): void {
    this.#late.push(one);
  }

  fact(fact: ResolvedFact): void {
    writeResolvedFact(fact, this.#lines);
  }

  unmerged(one: Unmerged): void {
    addUnmerged(this.#people, one);
  }

  mergedBefore(): void {
    this.#people.mergedBefore = (this.#people.mergedBefore ?? 0) + 1;
  }

  vendorActive(months: Iterable<number>): void {
    if (this.#countsIds) countActive(this.#people, 'vendor', months);
  }

  chosen(): void {
    this.#people.chosen = (this.#people.chosen ?? 0) + 1;
  }

  contradictedUser(of: string): void {
    this.#contradicted.push(of);
  }

  takeLateMerges(atLeast: number): readonly LateMerge[] {
    if (this.#late.length < atLeast) return [];
    const taken = this.#late;
    this.#late = [];
    return taken;
  }

  async flushWhenLarge(): Promise<void> {
    await this.#flushMerges(MERGES_AT_ONCE);
    await this.#flushFacts(this.#flushBytes);
  }

  async end(): Promise<ResolvedRange> {
    await this.#flushMerges(0);
    await this.#flushFacts(0);
    const contradicted = this.#contradicted;
    return {
      facts: this.#facts,
      merges: this.#merges,
      people: this.#people,
      ...(contradicted.length > 0 ? { contradicted } : {}),
    };
  }

  /** Of one person there may be many facts; joined, they may be few. */
  async #flushFacts(above: number): Promise<void> {
    const { staging, prefix, from, to } = this.#options;
    if (this.#lines.bytes <= above) return;
    this.#lines = await this.#lines.join(OF_DIGITS, joinFacts, this.#pace);
    if (this.#lines.bytes <= above / 2) return;
    const key = toResolvedFactsKey(prefix, { from, to }, this.#facts.length);
    this.#facts.push(await saveLines(staging, key, this.#lines));
    this.#lines = new BucketLines();
  }

  async #flushMerges(atLeast: number): Promise<void> {
    const { staging, prefix, from, to } = this.#options;
    for (let pairs = this.#pairs[0]; pairs && pairs.count >= atLeast; pairs = this.#pairs[0]) {
      this.#merges.push(await pairs.save(staging, toMergesKey(prefix, { from, to }, this.#merges.length)));
      this.#pairs.shift();
    }
    if (this.#pairs.length === 0) this.#lastPairs = undefined;
  }
}
