import type { Staging } from '../../contract/staging.ts';
import { loadNewestControl } from '../../state/control.ts';
import { ledgerLayout } from '../../state/keys/ledger.ts';
import { layout } from '../../state/keys/migration.ts';
import { isLedgerMoved } from '../../state/ledger/moved.ts';
import { loadMigration } from '../../state/migrations.ts';
import type { ArchiveHead, MovedMigration } from './contents.ts';
import { areTied, listTies } from './together.ts';

/** `written`: all objects are there, and an import ended between the states of two migrations. */
export type Place =
  | { readonly kind: 'free' | 'written' }
  /** A sentence without its end. */
  | { readonly kind: 'refused'; readonly reason: string };

type Standing = 'absent' | 'moved' | 'importing' | 'here';

const refused = (reason: string): Place => ({ kind: 'refused', reason });

/**
 * Whether the migrations of an archive can be taken in here. Two ledgers of one project are never joined: each knows
 * merges that the other one does not (I11).
 */
export async function findObstacle(
  staging: Staging,
  head: ArchiveHead,
  bundled: string | undefined,
): Promise<Place> {
  const where = staging.location;
  const away = head.migrations.find((one) => one.bundled !== undefined && one.bundled !== bundled);
  if (away)
    return refused(
      `the events of "${away.name}" are in the bundled API of another data folder, which is not in the file: give this machine the same API (its keys.json in BACKHAUL_DATA_DIR, and BACKHAUL_API_URL or DATABASE_URL)`,
    );

  const states: Standing[] = [];
  for (const one of head.migrations) {
    const state = await lookAt(staging, one);
    if (typeof state === 'object') return state;
    states.push(state);
  }
  const names = new Set(head.migrations.map(({ name }) => name));
  const others = (await listTies(staging)).filter(({ name }) => !names.has(name));
  const tied = others.find((other) => head.migrations.some((one) => areTied(other, one.ties)));
  if (tied)
    return refused(
      `${where} has migration "${tied.name}" to the same project, and what each place knows of its persons cannot be joined without merging some wrongly: import it where no other migration to this project is`,
    );
  for (const id of head.ledgers) {
    if (
      states.includes('here') ||
      states.includes('importing') || // an import of this file wrote it, and ended before the states
      (await isLedgerMoved(staging, id)) ||
      !(await hasAny(staging, ledgerLayout(id).prefix))
    )
      continue;
    return refused(
      `${where} knows persons of the same project from migrations that are gone (${ledgerLayout(id).prefix}), and what each place knows cannot be joined: import it into a staging of its own`,
    );
  }
  if (!states.includes('here')) return { kind: 'free' };
  const isBetweenStates = states.every((state) => state === 'here' || state === 'importing');
  if (isBetweenStates && states.includes('importing')) return { kind: 'written' };
  const there = head.migrations[states.indexOf('here')]?.name;
  return refused(`migration "${there}" is in ${where} already, and was not moved away from there`);
}

/** What stands under the name of a migration. */
async function lookAt(staging: Staging, { id, name, control }: MovedMigration): Promise<Place | Standing> {
  const record = await loadMigration(staging, name);
  const newest = await loadNewestControl(staging, name);
  const state = newest.control?.state;
  const where = staging.location;
  if (record && record.id !== id)
    return refused(
      `${where} has another migration of the name "${name}"; remove that, or import into a staging of its own`,
    );
  if (state === 'moved' && newest.number > control)
    return refused(
      `the file is older than what was exported from ${where} last (migration "${name}", ${newest.control?.reason}): import the newer file`,
    );
  if (state === 'importing' && newest.number > control + 1)
    return refused(
      `a newer file is being imported (migration "${name}", ${newest.control?.reason}): import that one`,
    );
  if (state === 'moved' || state === 'importing') return state;
  if (record) return 'here';
  const { prefix } = layout(name);
  if (await hasAny(staging, prefix))
    return refused(
      `${where} holds objects below ${prefix} that belong to no migration; remove that folder first`,
    );
  return 'absent';
}

async function hasAny(staging: Staging, prefix: string): Promise<boolean> {
  for await (const _ of staging.list(prefix)) return true;
  return false;
}
