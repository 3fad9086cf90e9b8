import type { Staging } from '../../contract/staging.ts';
import type { LedgerPurpose } from '../../identity/merges/merge-decision.ts';
import type { LedgerAtTurn } from '../../identity/resolve-persons.ts';
import { loadIfWhole } from '../../state/document.ts';
import { layout } from '../../state/keys/migration.ts';
import { createKeyedHash } from '../../state/ledger/keyed-hash.ts';
import { type Ledger, type LedgerAccess, openLedger } from '../../state/ledger/ledger.ts';
import { loadTurnDocument, loadTurns } from '../../state/ledger/turns.ts';
import { digestKey } from '../../state/ledger/versions.ts';
import { turnPlan } from './turn.ts';

export async function openLedgerAtTurn(
  staging: Staging,
  access: LedgerAccess,
  turn: number,
  purpose: LedgerPurpose,
): Promise<LedgerAtTurn & { readonly id: string; readonly hashes: string }> {
  const ledger = await openLedger(staging, access);
  return { ...(await atTurn(ledger, staging, turn, purpose)), hashes: digestKey(ledger) };
}

export async function atTurn(
  ledger: Ledger,
  staging: Staging,
  turn: number,
  purpose: LedgerPurpose,
): Promise<LedgerAtTurn & { readonly id: string }> {
  const { ended, known } = await loadTurns(staging, ledger.id);
  const behind = [...known].filter((one) => one < turn && !ended.has(one));
  const unsent = await findUnsentTurns(staging, ledger, behind);
  return {
    id: ledger.id,
    hash: createKeyedHash(ledger.hashKey, ledger.hashForm),
    turn,
    purpose,
    hasEnded: (other) => ended.has(other),
    sentNothing: (other) => unsent.has(other),
    isForgotten: ledger.isForgotten,
    sharedDevices: ledger.sharedDevices,
  };
}

/** Turns that are looked at at once; on S3 each is two round trips. */
const AT_ONCE = 16;

/**
 * Whether each turn had sent nothing, as it was read once: every job about persons asks. By the key of the hashes,
 * as a ledger that somebody removed counts its turns from the start.
 */
const remembered = new WeakMap<Staging, Map<string, Map<number, boolean>>>();

/**
 * Of turns that a later one came after before they ended: those that had sent nothing by then. They never will, as
 * nobody continues them and whoever has the ledger's lock by now is another one. So the answer holds for good, also
 * where a sleeper notes afterwards that it is about to send.
 */
async function findUnsentTurns(
  staging: Staging,
  { id, hashKey }: Pick<Ledger, 'id' | 'hashKey'>,
  turns: readonly number[],
): Promise<Set<number>> {
  const ledgers = remembered.get(staging) ?? new Map<string, Map<number, boolean>>();
  remembered.set(staging, ledgers);
  const known = ledgers.get(hashKey) ?? new Map<number, boolean>();
  ledgers.set(hashKey, known);
  const look = async (turn: number) => {
    const document = await loadTurnDocument(staging, id, turn);
    const plan = document && (await loadIfWhole(turnPlan, layout(document.name).turn(turn), staging));
    // One that is not there may still be written, and a damaged one restored.
    if (plan?.ledger === id) known.set(turn, plan.mayHaveSent === false);
  };
  const unknown = turns.filter((turn) => !known.has(turn));
  for (let start = 0; start < unknown.length; start += AT_ONCE)
    await Promise.all(unknown.slice(start, start + AT_ONCE).map(look));
  return new Set(turns.filter((turn) => known.get(turn) === true));
}
