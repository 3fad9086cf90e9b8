import type { KeyedHash } from '../../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../../state/ledger/record-table.ts';
import { readNewestMs, writeNewestMs } from './id-entry.ts';

interface NamedAtLedger {
  /** Hash of the id that was seen with users under earlier names, or of a vendor's person; see enterNames. */
  readonly id: Buffer;
  readonly hash: KeyedHash;
  /** The bucket of the id. */
  readonly table: RecordTable;
}

/**
 * Records of the ledger's table of ids: each earlier name under which an id was seen with a user, and how many there
 * are. A name is the hash of a user, or of all earlier names that a vendor's person has.
 */
const NAMED = 'named';

/**
 * Enters earlier names under which an id was seen with a user; or the devices of a vendor's person without a user, whose
 * facts are about to be removed. Repeating it changes nothing.
 */
export function enterNames(names: ReadonlySet<string>, at: NamedAtLedger): void {
  const { table } = at;
  let count = countNames(at);
  for (const name of names) {
    const key = toKey(at, name);
    if (table.find(key) !== -1) continue;
    writeNewestMs(table, key, 1);
    count += 1;
  }
  if (count !== countNames(at)) writeNewestMs(table, toKey(at, ''), count);
}

/** Whether these are all earlier names that were ever entered. */
export function areAllNames(names: ReadonlySet<string>, at: NamedAtLedger): boolean {
  let found = 0;
  for (const name of names) if (at.table.find(toKey(at, name)) !== -1) found += 1;
  return found === countNames(at);
}

/** Valid until the next call. */
const toKey = ({ id, hash }: NamedAtLedger, name: string) => hash.property(id.toString('hex'), NAMED, name);

const countNames = (at: NamedAtLedger): number => Math.max(0, readNewestMs(at.table, toKey(at, '')));
