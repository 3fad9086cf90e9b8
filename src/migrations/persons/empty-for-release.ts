import type { Staging } from '../../contract/staging.ts';
import { loadIfWhole } from '../../state/document.ts';
import { layout } from '../../state/keys/migration.ts';
import { parseTurnKey } from '../../state/keys/turn.ts';
import type { Ledger } from '../../state/ledger/ledger.ts';
import { loadTurnDocument, loadTurns } from '../../state/ledger/turns.ts';
import { loadRebuiltAt, loadVersionsNumber } from '../../state/ledger/versions.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { haveSaidAll } from './facts-of.ts';
import { makeAgain } from './rebuild-ledger.ts';
import { listReleases, turnPlan } from './turn.ts';

/*
 * What held migrations said one after the other is kept by the ledger, although the whole of it may say another thing: a
 * device that was one user's by what was known, and another one's by what came later, is shared for good. Where they
 * are released together, nothing else was ever said and nothing was sent, one export of all would know nothing of that.
 */

/** Empties the ledger for a release of all that it was ever told, before the first turn of the release. May be repeated. */
export async function emptyForRelease(
  { staging, record, now }: { readonly staging: Staging; readonly record: MigrationRecord; now: () => Date },
  ledger: Ledger,
): Promise<void> {
  const { releases } = record;
  if (!releases || ledger.isForgotten) return;
  const number = await loadVersionsNumber(staging, ledger.id);
  const { last, known } = await loadTurns(staging, ledger.id);
  if (known.size === 0 || !(await haveSaidAll(staging, ledger.id, releases))) return;
  const names = new Set([record.name, ...releases]);
  for (const name of names) if (await mayHaveSent(staging, name)) return;
  // Turns of others have sent, or kept what was removed.
  const rebuiltAt = await loadRebuiltAt(staging, ledger.id);
  for (const turn of known) {
    if (turn <= rebuiltAt) continue;
    const document = await loadTurnDocument(staging, ledger.id, turn);
    if (!document || !names.has(document.name)) return;
    // It was emptied before, and nobody has noted anything since.
    if (turn === last && document.name === record.name) return;
  }
  await makeAgain({ staging, record, now }, ledger, number);
}

/** Whether anything that a migration says of persons may have been sent, by itself or by another one. */
async function mayHaveSent(staging: Staging, name: string): Promise<boolean> {
  const keys = layout(name);
  if ((await listReleases(staging, name, loadIfWhole)).length > 0) return true;
  for await (const _ of staging.list(keys.folded)) return true; // as version 0.1.0 kept it
  for await (const { key } of staging.list(keys.turns)) {
    if (parseTurnKey(key) === undefined) continue;
    const plan = await loadIfWhole(turnPlan, key, staging);
    if (plan?.purpose !== 'note' && plan?.mayHaveSent !== false) return true;
  }
  return false;
}
