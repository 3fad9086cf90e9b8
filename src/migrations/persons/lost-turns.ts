import type { Staging } from '../../contract/staging.ts';
import { layout, ledgerLayout, parseTurnKey } from '../../state/keys.ts';
import { loadTurns } from '../../state/ledger/turns.ts';
import { loadRebuiltAt } from '../../state/ledger/versions.ts';
import { listMigrations } from '../../state/migrations.ts';
import { loadTurnPlan } from './turn.ts';

/*
 * A ledger that was restored from an older backup is whole in itself, its versions included. What migrations keep of
 * their turns shows that it knew more: a turn is opened at the ledger before the migration writes its plan.
 */

/**
 * The highest turn at this ledger that a migration has and the ledger does not know; undefined where there is none.
 * Those before the ledger was made again the last time do not count: it dropped turns that had not ended.
 */
export async function findLostTurn(
  staging: Staging,
  ledger: string,
): Promise<{ readonly turn: number; readonly key: string } | undefined> {
  const planned: { readonly name: string; readonly turn: number }[] = [];
  for (const name of await listMigrations(staging)) {
    for await (const { key } of staging.list(layout(name).turns)) {
      const turn = parseTurnKey(key);
      if (turn !== undefined) planned.push({ name, turn });
    }
  }
  // After the plans: a turn that is opened meanwhile is known by then.
  const { known } = await loadTurns(staging, ledger);
  const rebuiltAt = await loadRebuiltAt(staging, ledger);
  let lost = 0;
  for (const { name, turn } of planned) {
    if (turn < rebuiltAt || turn <= lost || known.has(turn)) continue;
    if ((await loadTurnPlan(staging, name, turn))?.ledger === ledger) lost = turn;
  }
  return lost === 0 ? undefined : { turn: lost, key: ledgerLayout(ledger).turn(lost) };
}
