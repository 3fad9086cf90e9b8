import { BUCKETS } from '../../state/bucket.ts';
import { HASH_BYTES } from '../../state/ledger/keyed-hash.ts';
import type { Context } from './context.ts';
import { loadRenamed } from './statements.ts';

/*
 * Ids that got another one, by any facts that the ledger was ever told of, removed or not. Such an id and another one
 * may be one user, although the facts at hand do not say so.
 */

/** A record: the hash of the earlier id. */
export const EARLIER_ID_WIDTH = HASH_BYTES;

/** Enters those that the facts say which are there, and returns whether an id is any of all. May be repeated. */
export async function enterEarlierIds(context: Context): Promise<(id: string) => boolean> {
  const { ledger, earlierIds, pace } = context;
  const open = await earlierIds.load(Array.from({ length: BUCKETS }, (_, bucket) => bucket));
  const find = (id: string) => {
    const hash = ledger.hash.id(id);
    const table = open.get(hash[0] ?? 0);
    return {
      hash,
      table,
      isKnown: table !== undefined && table.find(hash) !== -1,
    };
  };
  for await (const from of loadRenamed(context)) {
    const { hash, table, isKnown } = find(from);
    if (!table || isKnown) continue;
    table.insert(hash);
    table.changed = true;
    if (pace.isDue()) await pace.rest();
  }
  await earlierIds.save(open);
  return (id) => find(id).isKnown;
}
