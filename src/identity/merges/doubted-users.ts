import type { Pace } from '../../lib/async/pace.ts';
import { getBucket } from '../../state/bucket.ts';
import type { KeyedHash } from '../../state/ledger/keyed-hash.ts';
import type { LedgerTables } from '../../state/ledger/ledger-tables.ts';
import type { FactFold } from '../fact-fold.ts';

/**
 * Users of devices that were seen with several, who may be one with another of them: some call gave them another id, and
 * the facts at hand do not say it, or it was not accepted. Which of the users came last is not known then: the first
 * time of a user is that of all its ids. Who came first is, as that is the first of all times.
 */
export async function loadDoubted(
  { ids }: Pick<FactFold, 'ids'>,
  renames: ReadonlyMap<string, string> | undefined,
  {
    hash,
    earlierIds,
    pace,
  }: { readonly hash: KeyedHash; readonly earlierIds: LedgerTables; readonly pace: Pace },
): Promise<ReadonlySet<string>> {
  const byBucket = new Map<number, Set<string>>();
  for (const { pairs, verdicts, waitingVerdicts } of ids.values()) {
    if (pace.isDue()) await pace.rest();
    const all = [pairs, verdicts, waitingVerdicts].flatMap((users) => [...(users?.map.keys() ?? [])]);
    if (all.length < 2) continue;
    for (const one of all) {
      const user = renames?.get(one) ?? one;
      const bucket = getBucket(user);
      byBucket.set(bucket, (byBucket.get(bucket) ?? new Set()).add(user));
    }
  }
  const doubted = new Set<string>();
  const all = [...byBucket];
  for (let start = 0; start < all.length; start += BUCKETS_AT_ONCE) {
    const some = all.slice(start, start + BUCKETS_AT_ONCE);
    const open = await earlierIds.load(some.map(([bucket]) => bucket));
    for (const [bucket, users] of some) {
      const table = open.get(bucket);
      if (!table || table.size === 0) continue;
      for (const user of users) {
        if (table.find(hash.id(user)) !== -1) doubted.add(user);
        if (pace.isDue()) await pace.rest();
      }
    }
  }
  return doubted;
}

/** Of as many the ids are in memory at a time. */
const BUCKETS_AT_ONCE = 8;
