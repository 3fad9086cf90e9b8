import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadIfWhole } from '../document.ts';
import { ledgerLayout } from '../keys/ledger.ts';
import { layout } from '../keys/migration.ts';
import { parseTurnKey } from '../keys/turn.ts';

/* The turns that migrations have at a ledger (ledger.ts). Each is opened once, and ends once. */

const turnDocument = z.strictObject({
  /** Id of the migration whose turn it is. */
  migration: z.string(),
  name: z.string(),
  at: z.string(),
});
type TurnDocument = z.infer<typeof turnDocument>;

export interface Turns {
  /** 0 before the first. */
  readonly last: number;
  /** Those that were opened, but for those that `dropOpenTurns` dropped. */
  readonly known: ReadonlySet<number>;
  readonly ended: ReadonlySet<number>;
}

export async function loadTurns(staging: Staging, ledger: string): Promise<Turns> {
  const keys = ledgerLayout(ledger);
  const ended = await listNumbers(staging, keys.endedTurns);
  // What ended counts as opened, although its document may be lost.
  const known = new Set([...ended, ...(await listNumbers(staging, keys.turns))]);
  let last = 0;
  for (const turn of known) last = Math.max(last, turn);
  return { last, known, ended };
}

async function listNumbers(staging: Staging, folder: string): Promise<Set<number>> {
  const turns = new Set<number>();
  for await (const { key } of staging.list(folder)) {
    const turn = parseTurnKey(key);
    if (turn !== undefined) turns.add(turn);
  }
  return turns;
}

/**
 * Opens the next turn and returns its number; of two that open one at once, each gets its own. It is above `after`,
 * and above those that the migration had, because the migration keeps receipts under them: a ledger that was lost
 * counts from the start. `releases`: it is above the turns of these as well, at whatever ledger, as it ends what they
 * hold.
 */
export async function openTurn(
  staging: Staging,
  ledger: string,
  document: TurnDocument,
  {
    after = 0,
    releases = [],
  }: { readonly after?: number | undefined; readonly releases?: readonly string[] } = {},
): Promise<number> {
  const { last } = await loadTurns(staging, ledger);
  const had: number[] = [];
  for (const name of new Set([document.name, ...releases]))
    had.push(...(await listNumbers(staging, layout(name).turns)));
  let turn = Math.max(after, last, ...had) + 1;
  while (!(await staging.create(ledgerLayout(ledger).turn(turn), encodeDocument(document)))) turn += 1;
  return turn;
}

/** Drops the documents of turns before this one that have not ended: what they entered is not in the ledger any more. */
export async function dropOpenTurns(staging: Staging, ledger: string, before: number): Promise<void> {
  const { known, ended } = await loadTurns(staging, ledger);
  for (const turn of known)
    if (turn < before && !ended.has(turn)) await staging.remove(ledgerLayout(ledger).turn(turn));
}

/** A damaged one is nobody's: its turn is never continued, and its number is not given again. */
export const loadTurnDocument = (staging: Staging, ledger: string, turn: number) =>
  loadIfWhole(turnDocument, ledgerLayout(ledger).turn(turn), staging);

export async function endTurn(staging: Staging, ledger: string, turn: number): Promise<void> {
  await staging.create(ledgerLayout(ledger).endedTurn(turn), encodeDocument({}));
}
