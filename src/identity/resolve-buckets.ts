import { z } from 'zod';
import { type FactsIndex, factsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { saveFacts } from '../state/facts.ts';
import { toResolvedFactsKey } from '../state/keys.ts';
import { FactFold } from './fact-fold.ts';
import { type BucketRange, LOAD_LIMITS, type LoadLimits, loadFolds } from './load-folds.ts';
import { emptyPersonsTally, mergePersonsTally, personsTally, tallyUnmerged } from './persons-tally.ts';
import { resolvePersons } from './resolve-persons.ts';

/** The result of resolving a range of buckets: where the facts under their final ids are stored, for every bucket. */
export const resolvedRange = z.strictObject({
  findings: z.array(factsIndex),
  people: personsTally,
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
  readonly signal: AbortSignal;
  readonly limits?: LoadLimits;
}

/**
 * First pass over persons. An accepted anonymous id and its user are usually in different buckets, so this
 * pass only decides, and writes every fact under its final id; the second pass folds them. Repeating a range
 * yields the same facts.
 */
export async function resolveBuckets(options: ResolveBucketsOptions): Promise<ResolvedRange> {
  const { staging, prefix, from, to, signal, limits = LOAD_LIMITS } = options;
  const written: FactsIndex[] = [];
  let tally = emptyPersonsTally();
  let out = new FactFold();

  const flush = async () => {
    if (out.size === 0) return;
    const key = toResolvedFactsKey(prefix, { from, to }, written.length);
    written.push(await saveFacts(staging, key, out.stored()));
    out = new FactFold();
  };

  for await (const known of loadFolds(staging, options.facts, { from, to }, signal, limits)) {
    const { facts, unmerged } = resolvePersons(known);
    tally = mergePersonsTally(tally, tallyUnmerged(unmerged));
    for (const fact of facts.stored()) out.addStored(fact);
    if (out.weight > limits.foldBytes / 2) await flush();
  }
  await flush();
  return { findings: written, people: tally };
}
