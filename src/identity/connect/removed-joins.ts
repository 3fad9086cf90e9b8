import { cutPersonOf } from '../../contract/identity-fact.ts';
import { BUCKETS } from '../../state/bucket.ts';
import { toVendorId } from '../../state/facts/fact-line.ts';
import { HASH_BYTES } from '../../state/ledger/keyed-hash.ts';
import type { LedgerTables } from '../../state/ledger/ledger-tables.ts';
import type { RecordTable } from '../../state/ledger/record-table.ts';
import type { LedgerAtTurn } from '../resolve-persons.ts';
import type { JoinedPersons } from './link-fold.ts';

/*
 * Persons that the vendor joined, by facts that were removed. Of such a person nothing can be decided, as others of the
 * same person may have users: unless the facts at hand join all of them again.
 */

/** A record: hash of the person, hash of the group's name, and how many persons the group has; 0: it changed since. */
export const JOINED_WIDTH = 2 * HASH_BYTES + 4;
const SIZE = 2 * HASH_BYTES;

type Hash = LedgerAtTurn['hash'];
const toKey = (hash: Hash, person: string) => hash.group(toVendorId(person));
const everyBucket = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

/** Keeps the groups that some of the removed persons are in. May be repeated. */
export async function keepJoins(
  joined: JoinedPersons,
  removed: readonly string[],
  hash: Hash,
  tables: LedgerTables,
): Promise<void> {
  if (removed.length === 0) return;
  const roots = new Set(removed.map((person) => joined.find(person)));
  const sizes = new Map<string, number>();
  for (const person of joined.persons()) {
    const root = joined.find(person);
    if (roots.has(root)) sizes.set(root, (sizes.get(root) ?? 0) + 1);
  }
  const open = await tables.load(everyBucket);
  for (const person of joined.persons()) {
    const size = sizes.get(joined.find(person));
    const key = toKey(hash, person);
    const table = open.get(key[0] ?? 0);
    if (size === undefined || !table) continue;
    const group = toKey(hash, joined.find(person));
    const known = readGroup(table, key);
    if (known?.size === size && known.group === group.toString('hex')) continue;
    const offset = table.insert(key);
    table.bytes.set(group, offset + HASH_BYTES);
    table.bytes.writeUInt32BE(known ? 0 : size, offset + SIZE);
    table.changed = true;
  }
  await tables.save(open);
}

function readGroup(table: RecordTable, key: Buffer): { group: string; size: number } | undefined {
  const offset = table.find(key);
  if (offset === -1) return undefined;
  return {
    group: table.bytes.toString('hex', offset + HASH_BYTES, offset + SIZE),
    size: table.bytes.readUInt32BE(offset + SIZE),
  };
}

/** Whether others may be of the same person of the vendor, and nobody knows who. */
export async function loadRemovedJoins(
  joined: JoinedPersons,
  hash: Hash,
  tables: LedgerTables,
): Promise<(person: string) => boolean> {
  const open = await tables.load(everyBucket);
  if ([...open.values()].every(({ size }) => size === 0)) return () => false;
  const read = (person: string) => {
    const key = toKey(hash, person);
    const table = open.get(key[0] ?? 0);
    return table && readGroup(table, key);
  };
  const groups = new Map<string, { readonly root: string; readonly size: number; found: number }>();
  for (const person of joined.persons()) {
    const known = read(person);
    if (!known) continue;
    const root = joined.find(person);
    // A size that changed has a group of its own, which is never complete.
    const name = `${root} ${known.group} ${known.size}`;
    const group = groups.get(name) ?? { root, size: known.size, found: 0 };
    group.found += 1;
    groups.set(name, group);
  }
  const incomplete = new Set<string>();
  for (const { root, size, found } of groups.values()) if (found !== size) incomplete.add(root);
  return (person) => {
    const [id] = cutPersonOf(person);
    return joined.has(id) ? incomplete.has(joined.find(id)) : read(id) !== undefined;
  };
}
