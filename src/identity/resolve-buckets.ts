import { z } from 'zod';
import { type FactsIndex, factsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { saveFacts } from '../state/facts.ts';
import { toResolvedFactsKey } from '../state/keys.ts';
import { FactFold } from './fact-fold.ts';
import { type BucketRange, LOAD_LIMITS, type LoadLimits, loadFolds } from './load-folds.ts';
import { emptyPersonsTally, mergePersonsTally, personsTally, tallyUnmerged } from './persons-tally.ts';
import { resolvePersons } from './resolve-persons.ts';

/** What resolving a range of buckets left behind: findings under their final ids, for every bucket. */
export const resolvedRange = z.strictObject({
  findings: z.array(factsIndex),
  people: personsTally,
});
export type ResolvedRange = z.infer<typeof resolvedRange>;

export interface ResolveBucketsOptions extends BucketRange {
  readonly staging: Staging;
  /**
   * Where findings under their final ids go: `<prefix><from>-<to>-<number>.gz`. Of this writer alone,
   * for an index elsewhere names offsets in these objects (I5).
   */
  readonly prefix: string;
  /** The findings of all parts. */
  readonly findings: Iterable<FactsIndex> | AsyncIterable<FactsIndex>;
  readonly signal: AbortSignal;
  readonly limits?: LoadLimits;
}

/**
 * First pass over people. An accepted anonymous id and its user usually lie in different buckets, so
 * this pass only decides and writes everything anew under the final id; the second pass folds it.
 * Doing a range again says the same again.
 */
export async function resolveBuckets(options: ResolveBucketsOptions): Promise<ResolvedRange> {
  const { staging, prefix, from, to, signal, limits = LOAD_LIMITS } = options;
  const written: FactsIndex[] = [];
  let people = emptyPersonsTally();
  let out = new FactFold();

  const flush = async () => {
    if (out.size === 0) return;
    const key = toResolvedFactsKey(prefix, { from, to }, written.length);
    written.push(await saveFacts(staging, key, out.stored()));
    out = new FactFold();
  };

  for await (const known of loadFolds(staging, options.findings, { from, to }, signal, limits)) {
    const { findings, setAside } = resolvePersons(known);
    people = mergePersonsTally(people, tallyUnmerged(setAside));
    for (const finding of findings.stored()) out.addStored(finding);
    if (out.weight > limits.foldBytes / 2) await flush();
  }
  await flush();
  return { findings: written, people };
}
