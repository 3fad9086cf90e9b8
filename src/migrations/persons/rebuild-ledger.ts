import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { layout } from '../../state/keys.ts';
import { dropOpenTurns, endTurn, type Ledger, listLedgersOf, openTurn } from '../../state/ledger/ledger.ts';
import { clearLedger, findLostVersion, saveVersions } from '../../state/ledger/versions.ts';
import { listMigrations, type MigrationRecord } from '../../state/migrations.ts';

interface RebuildDeps {
  readonly staging: Staging;
  readonly record: MigrationRecord;
  readonly log: Logger;
  readonly now: () => Date;
}

/**
 * Where something of the ledger was lost, the ledger is emptied, so that it is made again from the facts of all
 * migrations.
 *
 * @throws ConfigError where the facts of one were removed: the ledger alone knows what it sent, so nothing of it
 * is deleted before an operator has decided
 */
export async function rebuildWhereLost(
  { staging, record, log, now }: RebuildDeps,
  ledger: Ledger,
): Promise<void> {
  const lost = ledger.isForgotten ? undefined : await findLostVersion(staging, ledger);
  if (lost === undefined) return;
  const removed = await findRemoved(staging, ledger);
  if (removed !== undefined) {
    throw new ConfigError(
      `${staging.location} has lost ${lost}, by which Backhaul knows what was sent about persons. It cannot be made again, because the identity facts of "${removed}" were removed. Restore that object and resume; or run "backhaul rm ${removed} --forget" and resume: then nothing is merged at this destination any more`,
    );
  }
  log.warn(
    { migration: record.name },
    `${staging.location} has lost ${lost}; what is known of persons at this destination is read again from all migrations`,
  );
  await clearLedger(staging, ledger.id);
  // Turns that were begun with the lost one must not be continued.
  const at = now().toISOString();
  const turn = await openTurn(staging, ledger.id, { migration: record.id, name: record.name, at });
  await dropOpenTurns(staging, ledger.id, turn);
  await saveVersions(staging, ledger);
  await endTurn(staging, ledger.id, turn);
}

/** A migration that the ledger knows, and that cannot be read again. */
async function findRemoved(staging: Staging, ledger: Ledger): Promise<string | undefined> {
  for (const name of await listMigrations(staging)) {
    if (!(await staging.get(layout(name).factsRemoved))) continue;
    if ((await listLedgersOf(staging, name)).includes(ledger.id)) return name;
  }
  return undefined;
}
