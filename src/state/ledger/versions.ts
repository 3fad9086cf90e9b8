import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadIfWhole } from '../document.ts';
import { type LedgerTable, ledgerLayout } from '../keys.ts';
import { clearStaging } from '../migrations.ts';
import { type Ledger, loadTurns } from './ledger.ts';
import { loadVersions } from './ledger-tables.ts';

/*
 * A bucket that is gone looks like one that was never saved, and its older version like the latest: both would
 * allow merges that were found to be wrong. So the versions of all buckets are noted at the end of each turn, and
 * before anything of a turn is sent.
 */

const TABLES = ['ids', 'properties'] as const satisfies readonly LedgerTable[];

/** By bucket. */
const versions = z.record(z.string(), z.number().int().positive());
const versionsDocument = z.strictObject({
  /** Digest of the key of the hashes: with another key nothing that was saved is found again. */
  key: z.string(),
  ids: versions,
  properties: versions,
});

const digestKey = ({ hashKey }: Ledger) => createHash('sha256').update(hashKey).digest('hex');

/** To be called by the holder of the ledger, before a turn sends or ends. */
export async function saveVersions(staging: Staging, ledger: Ledger): Promise<void> {
  const keys = ledgerLayout(ledger.id);
  const load = async (table: LedgerTable) =>
    Object.fromEntries(await loadVersions(staging, keys.table(table)));
  const document = { key: digestKey(ledger), ids: await load('ids'), properties: await load('properties') };
  await staging.put(keys.versions, encodeDocument(document));
}

/** The first thing found missing, for the operator; undefined where all is there. */
export async function findLostVersion(staging: Staging, ledger: Ledger): Promise<string | undefined> {
  const keys = ledgerLayout(ledger.id);
  const expected = await loadIfWhole(versionsDocument, keys.versions, staging);
  if (!expected && (await staging.get(keys.versions))) return keys.versions;
  if (!expected) return (await loadTurns(staging, ledger.id)).ended.size > 0 ? keys.versions : undefined;
  if (expected.key !== digestKey(ledger)) return keys.document;
  for (const table of TABLES) {
    const found = await loadVersions(staging, keys.table(table));
    for (const [bucket, version] of Object.entries(expected[table])) {
      if ((found.get(Number(bucket)) ?? 0) < version) return keys.version(table, Number(bucket), version);
    }
  }
  return undefined;
}

/** Removes all that the ledger knows, so that it is made again from the migrations; numbers of turns stay. */
export async function clearLedger(staging: Staging, id: string): Promise<void> {
  const keys = ledgerLayout(id);
  // First the known facts: without them the rest is not believed.
  await clearStaging(staging, keys.knownFacts);
  for (const table of TABLES) await clearStaging(staging, keys.table(table));
  await staging.remove(keys.versions);
}
