import { cutPersonOf } from '../../contract/identity-fact.ts';
import { getBucket } from '../../state/bucket.ts';
import { toVendorId } from '../../state/facts/fact-line.ts';
import { readIdEntry } from '../merges/id-entry.ts';
import type { Context } from './context.ts';
import type { JoinedPersons } from './link-fold.ts';

/** Users of a vendor's person, as hashes. */
export interface FormerUsers {
  readonly users: Buffer[];
  /** One of its names has several. */
  isShared: boolean;
  /** One of its names has a user that was seen under an earlier name. */
  isByName: boolean;
}

/**
 * What the ledger knows under the other names of joined persons: facts that named a user may have been removed before
 * the persons were joined. `wanted`: names of the persons at hand.
 */
export async function loadFormerUsers(
  joined: JoinedPersons,
  wanted: ReadonlySet<string>,
  { ledger, tables, signal, pace }: Pick<Context, 'ledger' | 'tables' | 'signal' | 'pace'>,
): Promise<ReadonlyMap<string, FormerUsers>> {
  const projects = new Map<string, string[]>();
  for (const name of wanted) {
    const [id, project] = cutPersonOf(name);
    projects.set(id, [...(projects.get(id) ?? []), project]);
  }
  const byBucket = new Map<number, [name: string, root: string][]>();
  for (const id of joined.persons()) {
    const root = joined.find(id);
    if (root === id) continue;
    for (const project of projects.get(root) ?? []) {
      const name = toVendorId(`${id}${project}`);
      const bucket = getBucket(name);
      byBucket.set(bucket, byBucket.get(bucket) ?? []);
      byBucket.get(bucket)?.push([name, `${root}${project}`]);
    }
    if (pace.isDue()) await pace.rest();
  }
  const former = new Map<string, FormerUsers>();
  for (const [bucket, names] of byBucket) {
    signal.throwIfAborted();
    const table = (await tables.load([bucket])).get(bucket);
    for (const [name, root] of names) {
      const known = table && readIdEntry(table, ledger.hash.group(name));
      if (pace.isDue()) await pace.rest();
      if (!known?.user) continue;
      const of = former.get(root) ?? { users: [], isShared: false, isByName: false };
      former.set(root, of);
      if (!of.users.some((one) => known.user?.equals(one))) of.users.push(known.user);
      of.isShared ||= known.isShared;
      of.isByName ||= known.isByName;
    }
  }
  return former;
}
