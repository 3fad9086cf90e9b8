import { z } from 'zod';
import { type FindingsIndex, findingsIndex } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { FindingsFold } from './findings-fold.ts';
import { type BucketRange, LOAD_LIMITS, type LoadLimits, loadFolds } from './load-folds.ts';
import { emptyPeopleTally, mergePeopleTally, peopleTally, tallySetAside } from './people-tally.ts';
import { resolvePeople } from './resolve-people.ts';

/** What resolving a range of buckets left behind: findings under their final ids, for every bucket. */
export const resolvedRange = z.strictObject({
  findings: z.array(findingsIndex),
  people: peopleTally,
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
  readonly findings: Iterable<FindingsIndex> | AsyncIterable<FindingsIndex>;
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
  const written: FindingsIndex[] = [];
  let people = emptyPeopleTally();
  let out = new FindingsFold();

  const flush = async () => {
    if (out.size === 0) return;
    const { body, sections } = await out.encode();
    const key = `${prefix}${from}-${to}-${String(written.length).padStart(4, '0')}.gz`;
    await staging.put(key, body);
    written.push({ key, sections });
    out = new FindingsFold();
  };

  for await (const known of loadFolds(staging, options.findings, { from, to }, signal, limits)) {
    const { findings, setAside } = resolvePeople(known);
    people = mergePeopleTally(people, tallySetAside(setAside));
    for (const finding of findings.stored()) out.addStored(finding);
    if (out.weight > limits.foldBytes / 2) await flush();
  }
  await flush();
  return { findings: written, people };
}
