import type { Staging } from '../../../contract/staging.ts';
import { loadIfWhole } from '../../../state/document.ts';
import { layout } from '../../../state/keys/migration.ts';
import { loadTurnDocument, loadTurns } from '../../../state/ledger/turns.ts';
import { turnPlan } from '../turn.ts';
import type { TurnOf } from './on-wire.ts';

/** The last turn before this one that has not ended and in which something may have been sent. */
export async function findOpenSender(
  staging: Staging,
  ledger: string,
  before: number,
): Promise<TurnOf | undefined> {
  const { known, ended } = await loadTurns(staging, ledger);
  const open = [...known].filter((turn) => turn < before && !ended.has(turn)).sort((a, b) => b - a);
  for (const turn of open) {
    const document = await loadTurnDocument(staging, ledger, turn);
    if (!document) continue;
    const { migration, name } = document;
    const key = layout(name).turn(turn);
    const plan = await loadIfWhole(turnPlan, key, staging);
    // Without a plan nothing was sent, and what is damaged may say that something was.
    const mayHaveSent = plan ? plan.mayHaveSent !== false : (await staging.get(key)) !== undefined;
    if (mayHaveSent) return { migration, name, turn };
  }
  return undefined;
}
