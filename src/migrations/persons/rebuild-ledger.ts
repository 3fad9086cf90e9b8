import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { ledgerLayout } from '../../state/keys/ledger.ts';
import { isForgotten, type Ledger, listKnownMigrations } from '../../state/ledger/ledger.ts';
import { dropOpenTurns, endTurn, loadTurns, openTurn } from '../../state/ledger/turns.ts';
import {
  clearLedger,
  findLostVersion,
  hasVersions,
  loadVersionsNumber,
  saveFirstVersions,
  saveVersions,
} from '../../state/ledger/versions.ts';
import { listMigrations, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { areFactsRemoved } from './facts-removed.ts';
import { findLostTurn, listTurnsAtRemoval } from './lost-turns.ts';
import { listNotedVersions } from './noted-versions.ts';

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
  for (;;) {
    const number = await loadVersionsNumber(staging, ledger.id);
    const found = await findLost(staging, ledger);
    // Of a ledger that is gone as a whole, what migrations keep of their turns is all that is left.
    const isLookedAt = number > 0 && !ledger.isForgotten;
    const lost = found ?? (isLookedAt ? undefined : (await findLostTurn(staging, ledger.id))?.key);
    if (lost === undefined) {
      // From here on a ledger without this document is one that lost it.
      if (number === 0) await saveVersions(staging, ledger);
      return;
    }
    // Who slept here may have found what others have written since.
    if ((await loadVersionsNumber(staging, ledger.id)) !== number) continue;
    await assertCanBeMadeAgain(staging, ledger, lost);
    log.warn(
      { migration: record.name },
      `${staging.location} has lost ${lost}; what is known of persons at this destination is read again from all migrations`,
    );
    if (await makeAgain({ staging, record, now }, ledger, number)) return;
  }
}

/**
 * Empties the ledger in a turn of its own. False, with nothing done, where somebody had a turn since `number` was read:
 * see clearLedger.
 */
export async function makeAgain(
  { staging, record, now }: Pick<RebuildDeps, 'staging' | 'record' | 'now'>,
  ledger: Ledger,
  number: number,
): Promise<boolean> {
  if (!(await clearLedger(staging, ledger.id, number))) return false;
  // Turns that were begun with the one before must not be continued.
  const at = now().toISOString();
  const document = { migration: record.id, name: record.name, at };
  // Above all that were lost, so that each of them is known to be from before.
  const above = (await findLostTurn(staging, ledger.id))?.turn;
  const turn = await openTurn(staging, ledger.id, document, { after: above });
  await dropOpenTurns(staging, ledger.id, turn);
  await saveFirstVersions(staging, ledger, turn);
  await endTurn(staging, ledger.id, turn);
  return true;
}

/**
 * The first thing that a ledger, or a turn that has not ended, noted and that is gone. `turn`: whoever has this one
 * looked at the turns of all migrations when it began; a ledger that is from before it does not have it.
 */
export async function findLost(
  staging: Staging,
  ledger: Pick<Ledger, 'id'> & Partial<Ledger>,
  turn?: number,
): Promise<string | undefined> {
  if (ledger.isForgotten ?? (await isForgotten(staging, ledger.id))) return undefined;
  const version = await findLostVersion(staging, ledger, await listNotedVersions(staging, ledger.id));
  if (version !== undefined || !(await hasVersions(staging, ledger.id))) return version;
  if (turn !== undefined)
    return (await loadTurns(staging, ledger.id)).known.has(turn)
      ? undefined
      : ledgerLayout(ledger.id).turn(turn);
  return (await findLostTurn(staging, ledger.id))?.key;
}

async function assertCanBeMadeAgain(staging: Staging, { id }: Ledger, lost: string): Promise<void> {
  const known = await listKnownMigrations(staging, id);
  // An older ledger may not know them yet.
  const removed = await listTurnsAtRemoval(staging, await listMigrations(staging));
  for (const name of new Set([
    ...known,
    ...removed.filter(({ ledger }) => ledger === id).map((one) => one.name),
  ])) {
    const isGone = !(await loadMigration(staging, name));
    if (!isGone && !(await areFactsRemoved(staging, name))) continue;
    throw new ConfigError(
      `${staging.location} has lost ${lost}, by which Backhaul knows what was sent about persons. It cannot be made again, because ${isGone ? `migration "${name}" is gone from staging` : `the identity facts of "${name}" were removed`}. Restore that object and resume; or run "backhaul rm ${name} --forget" and resume: then nothing is merged at this destination any more`,
    );
  }
}
