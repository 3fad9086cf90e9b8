import type { Manifest } from '../../config/manifest/manifest.ts';
import {
  describeDifference,
  type ManifestIdentity,
  manifestIdentity,
} from '../../config/manifest/manifest-identity.ts';
import type { Staging } from '../contract/staging.ts';
import { ConfigError } from '../lib/errors.ts';
import { loadLatestEpoch, type MigrationRecord } from '../state/migrations.ts';
import { listReceipts } from '../state/receipts.ts';
import { toLedgerDestination } from './persons/ledger-destination.ts';
import { type DestinationDeps, resolveLedger } from './resolve-destination.ts';

interface ComparingRuntime extends DestinationDeps {
  readonly staging: Staging;
}

/**
 * What a manifest changes of a migration that must not change, a line each.
 *
 * A project decides where events go, like an address. One that is named only now is the answer to a key that
 * nothing knows: it says that the project is the same.
 */
export async function findManifestDifferences(
  runtime: ComparingRuntime,
  known: MigrationRecord,
  manifest: Manifest,
): Promise<string[]> {
  const { staging } = runtime;
  const epoch = await loadLatestEpoch(staging, known.name);
  const { identity } = manifestIdentity(manifest);
  const { 'destination.project': project, ...now } = identity;
  const then = toLedgerDestination((epoch ?? known.opening).manifest)?.project;
  if (then !== undefined) {
    const before = { ...(known.identity as object), 'destination.project': then };
    return describeDifference(before, identity);
  }
  const { 'destination.project': _, ...before } = known.identity as Partial<ManifestIdentity>;
  const differences = describeDifference(before, now);
  const ledger = findLedgerId(manifest, runtime);
  const isOther = epoch?.ledger !== undefined && ledger !== undefined && epoch.ledger !== ledger;
  if (project === undefined && isOther && (await hasDelivered(staging, known.name))) {
    differences.push(
      `destination.apiKey: is another key than the one that events were sent with; if it is of the same project, name that project under destination.project`,
    );
  }
  return differences;
}

/** The ledger that a manifest leads to; undefined where this process does not know its key, or it needs none. */
export function findLedgerId(manifest: Manifest, runtime: DestinationDeps): string | undefined {
  if (!manifest.destination) return undefined;
  try {
    return resolveLedger(manifest, runtime).id;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Whether a part is done of which events were accepted: a wrong key that nothing accepted is corrected freely. */
async function hasDelivered(staging: Staging, name: string): Promise<boolean> {
  for await (const { tally } of listReceipts(staging, name)) if (tally.events.accepted > 0) return true;
  return false;
}
