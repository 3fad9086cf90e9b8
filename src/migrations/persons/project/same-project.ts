import type { Staging } from '../../../contract/staging.ts';
import {
  explainOtherAnswer,
  isAnyForgotten,
  isForgotten,
  type Ledger,
  type LedgerAccess,
  loadKnownFacts,
  loadSharedDevices,
} from '../../../state/ledger/ledger.ts';
import { listMigrations } from '../../../state/migrations.ts';
import { loadLastLedger } from '../facts-removed.ts';
import {
  areDeclaredApart,
  hasTwoNames,
  type LedgerDestination,
  loadDestination,
} from './ledger-destination.ts';

export interface SameProject {
  readonly names: ReadonlySet<string>;
  /** Ids of the project's ledgers and fingerprints of its keys. */
  readonly ties: ReadonlySet<string>;
}

/**
 * Migrations that send to the project of a ledger, by the ledgers and keys that their last producers had: a key is of
 * one project, whatever the host and the variable are called, and so is a name, whatever its key was before.
 * Two names with one key are two projects for each other only where they are declared to be at two services. Of what
 * was removed, the ledger of the key alone may know.
 */
export async function findSameProject(
  staging: Staging,
  names: readonly string[],
  { id, key = id }: Pick<Ledger, 'id' | 'key'>,
  destination: LedgerDestination,
): Promise<SameProject> {
  const lasts = new Map<
    string,
    { readonly ledger?: string | undefined; readonly key?: string | undefined }
  >();
  for (const name of names) {
    const last = await loadLastLedger(staging, name);
    if (last) lasts.set(name, last);
  }
  const isNamed = key !== id;
  const hasItsKey = async (name: string) => {
    const its = await loadDestination(staging, name);
    return its !== undefined && hasTwoNames(its, destination);
  };
  const ties = new Set([id, key]);
  const found = new Set<string>();
  for (let size = 0; size < ties.size; ) {
    size = ties.size;
    for (const [name, last] of lasts) {
      const isTied =
        (last.ledger !== undefined && ties.has(last.ledger)) ||
        (last.key !== undefined && ties.has(last.key) && (!isNamed || (await hasItsKey(name))));
      if (!isTied) continue;
      found.add(name);
      for (const tie of [last.ledger, last.key]) if (tie !== undefined) ties.add(tie);
    }
  }
  if (isNamed)
    for (const name of names)
      if (!found.has(name) && (await loadKnownFacts(staging, key, name))) found.add(name);
  return { names: found, ties };
}

/**
 * Throws ConfigError where a project that has no ledger under this name or key yet has one under another, which was
 * decided with another answer about shared devices. One that there is already compares with its own.
 */
export async function assertSameAnswer(
  staging: Staging,
  access: LedgerAccess,
  destination: LedgerDestination | undefined,
): Promise<void> {
  const { id, sharedDevices: wanted } = access;
  if (wanted === undefined || !destination || (await loadSharedDevices(staging, id)) !== undefined) return;
  const { ties } = await findSameProject(staging, await listMigrations(staging), access, destination);
  for (const other of ties) {
    const answer = await loadSharedDevices(staging, other);
    if (answer !== undefined && answer !== wanted) throw explainOtherAnswer(wanted, answer);
  }
}

/** Whether what is known of the project was dropped, under whichever of its names and keys (`rm --forget`). */
export async function isProjectForgotten(
  staging: Staging,
  names: readonly string[],
  ledger: Pick<Ledger, 'id' | 'key'>,
  destination: LedgerDestination,
): Promise<boolean> {
  const { id, key = id } = ledger;
  const ties = (await isAnyForgotten(staging))
    ? (await findSameProject(staging, names, ledger, destination)).ties
    : [id, key];
  for (const tie of ties) {
    if (await isForgotten(staging, tie, (of) => areDeclaredApart(of, destination))) return true;
  }
  return false;
}
