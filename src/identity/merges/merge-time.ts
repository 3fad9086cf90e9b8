import type { KeyedHash } from '../../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../../state/ledger/record-table.ts';
import { toTimeMs } from '../property-decision.ts';
import { type IdEntry, readNewestMs, writeNewestMs } from './id-entry.ts';

/** Record of the ledger's table of ids: the time with which a merge was first entered. */
const MERGED_AT = 'merged at';

/**
 * The time with which a merge is sent. Where an earlier turn has perhaps sent it, that is the time of then, because a
 * destination keeps two rows of one event with two days; ledgers of earlier versions do not know it. `known`: what the
 * ledger knew of the id before this turn entered the merge.
 */
export function keepMergeTime(
  time: string,
  {
    id,
    known,
    hash,
    table,
  }: {
    /** Hash of the anonymous id. */
    readonly id: Buffer;
    readonly known: IdEntry;
    readonly hash: KeyedHash;
    /** The bucket of the id. */
    readonly table: RecordTable;
  },
): string {
  const key = hash.property(id.toString('hex'), MERGED_AT, '');
  const before = readNewestMs(table, key);
  if (known.sentAt !== 0 && Number.isFinite(before)) return new Date(before).toISOString();
  const now = toTimeMs(time);
  if (now !== before) writeNewestMs(table, key, now);
  return time;
}
