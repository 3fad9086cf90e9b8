import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { loadAcceptanceMark } from '../../state/destination-marks.ts';
import { LEDGERS, ledgerLayout, parseKnownName } from '../../state/keys/ledger.ts';
import { listMigrations, loadMigration } from '../../state/migrations.ts';
import { loadLastLedger } from '../persons/facts-removed.ts';
import {
  isSameDestination,
  type LedgerDestination,
  loadDestination,
} from '../persons/project/ledger-destination.ts';

/*
 * Which migrations move together. What is merged at a project is decided over all migrations to it, and one ledger
 * knows what they sent (I11), so they cannot be at two places. Where it is not certain that two are of one project, they
 * count as such: that costs a longer archive, and the other error a wrong merge.
 */

/** By what a migration is found to be of one project with another. Holds no key, only fingerprints (I10). */
export const ties = z.strictObject({
  name: z.string(),
  destination: z
    .strictObject({
      host: z.string().optional(),
      project: z.string().optional(),
      service: z.string().optional(),
      apiKey: z.string().optional(),
    })
    .optional(),
  /** Ledgers that know it, and fingerprints of the keys that it was run with. */
  ledgers: z.array(z.string()),
  /** Migrations whose records or persons it sends. */
  sends: z.array(z.string()),
});
export type Ties = z.infer<typeof ties>;

export async function listTies(staging: Staging): Promise<Ties[]> {
  const knowing = await listKnowing(staging);
  const all: Ties[] = [];
  for (const name of await listMigrations(staging)) {
    const record = await loadMigration(staging, name);
    if (!record) continue;
    const destination = await loadDestination(staging, name);
    const last = await loadLastLedger(staging, name);
    const accepted = await loadAcceptanceMark(staging, name);
    const ledgers = [...(knowing.get(name) ?? []), last?.ledger, last?.key, accepted?.ledger];
    all.push({
      name,
      ...(destination ? { destination } : {}),
      ledgers: [...new Set(ledgers)].filter((id) => id !== undefined).sort(),
      sends: [record.replays, ...(record.releases ?? [])].filter((one) => one !== undefined),
    });
  }
  return all;
}

/** Ids of the ledgers that know a migration, by its name. */
async function listKnowing(staging: Staging): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for await (const { key } of staging.list(LEDGERS)) {
    const name = parseKnownName(key);
    const id = key.slice(LEDGERS.length, key.indexOf('/', LEDGERS.length));
    if (name !== undefined && key === ledgerLayout(id).known(name))
      found.set(name, [...(found.get(name) ?? []), id]);
  }
  return found;
}

/** All that must be where `names` are, these included, in the order of `all`. */
export function findTogether(all: readonly Ties[], names: readonly string[]): Ties[] {
  const found = new Set(all.filter(({ name }) => names.includes(name)));
  for (const one of found) for (const other of all) if (areTied(one, other)) found.add(other);
  return all.filter((one) => found.has(one));
}

export const areTied = (a: Ties, b: Ties): boolean =>
  a.sends.includes(b.name) ||
  b.sends.includes(a.name) ||
  a.ledgers.some((id) => b.ledgers.includes(id)) ||
  (a.destination !== undefined &&
    b.destination !== undefined &&
    isSameDestination(toWhole(a.destination), toWhole(b.destination)));

const toWhole = ({
  host,
  project,
  service,
  apiKey,
}: NonNullable<Ties['destination']>): LedgerDestination => ({
  host,
  project,
  service,
  apiKey,
});
