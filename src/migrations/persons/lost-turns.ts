import type { Staging } from '../../contract/staging.ts';
import { loadIfWhole } from '../../state/document.ts';
import { LEDGERS, ledgerLayout, parseLedgerOfTurn } from '../../state/keys/ledger.ts';
import { layout } from '../../state/keys/migration.ts';
import { parseTurnKey } from '../../state/keys/turn.ts';
import { loadTurnDocument, loadTurns } from '../../state/ledger/turns.ts';
import { loadRebuiltAt } from '../../state/ledger/versions.ts';
import { listMigrations } from '../../state/migrations.ts';
import { loadTurnsAtRemoval } from './facts-removed.ts';
import { turnPlan } from './turn.ts';

/*
 * A ledger that was restored from an older backup is whole in itself, its versions included. What migrations keep of
 * their turns shows that it knew more: a turn is opened at the ledger before the migration writes its plan. Of one
 * whose facts were removed, the mark of the removal says how far the ledger was.
 */

/** Migrations that are looked at at once; on S3 each is a round trip. */
const AT_ONCE = 16;

interface NamedTurn {
  readonly name: string;
  readonly turn: number;
  /** Undefined: the plan of the turn says at which ledger it was. */
  readonly ledger?: string | undefined;
}

/** The highest turn of each ledger that migrations had known of when their facts were removed. */
export async function listTurnsAtRemoval(staging: Staging, names: readonly string[]): Promise<NamedTurn[]> {
  const all: NamedTurn[] = [];
  for (const name of names) {
    const turns = await loadTurnsAtRemoval(staging, name);
    for (const [ledger, turn] of Object.entries(turns)) all.push({ name, ledger, turn });
  }
  return all;
}

async function listTurnsOf(staging: Staging, name: string): Promise<NamedTurn[]> {
  const turns: NamedTurn[] = [];
  for await (const { key } of staging.list(layout(name).turns)) {
    const turn = parseTurnKey(key);
    if (turn !== undefined) turns.push({ name, turn });
  }
  // What is removed has none any more.
  return turns.length > 0 ? turns : listTurnsAtRemoval(staging, [name]);
}

/**
 * The highest turn at this ledger that a migration has and the ledger does not know; undefined where there is none.
 * Those before the ledger was made again the last time do not count: it dropped turns that had not ended.
 */
export async function findLostTurn(
  staging: Staging,
  ledger: string,
): Promise<{ readonly turn: number; readonly key: string } | undefined> {
  const planned: NamedTurn[] = [];
  const names = await listMigrations(staging);
  for (let start = 0; start < names.length; start += AT_ONCE) {
    const some = names.slice(start, start + AT_ONCE);
    planned.push(...(await Promise.all(some.map((name) => listTurnsOf(staging, name)))).flat());
  }
  // After the plans: a turn that is opened meanwhile is known by then.
  const { known } = await loadTurns(staging, ledger);
  const rebuiltAt = await loadRebuiltAt(staging, ledger);
  let lost = 0;
  for (const { name, turn, ledger: at } of planned) {
    if (turn < rebuiltAt || turn <= lost || known.has(turn)) continue;
    if (await isAtLedger({ name, turn, ledger: at }, ledger, staging)) lost = turn;
  }
  return lost === 0 ? undefined : { turn: lost, key: ledgerLayout(ledger).turn(lost) };
}

async function isAtLedger(
  { name, turn, ledger: at }: NamedTurn,
  ledger: string,
  staging: Staging,
): Promise<boolean> {
  if (at !== undefined) return at === ledger;
  const key = layout(name).turn(turn);
  const plan = await loadIfWhole(turnPlan, key, staging);
  if (plan) return plan.ledger === ledger;
  // Gone meanwhile, or damaged: then it counts as lost here unless another ledger knows it.
  return (await staging.get(key)) !== undefined && !(await isKnownElsewhere(staging, name, turn));
}

async function isKnownElsewhere(staging: Staging, name: string, turn: number): Promise<boolean> {
  for await (const { key } of staging.list(LEDGERS)) {
    const id = parseLedgerOfTurn(key, turn);
    if (id !== undefined && (await loadTurnDocument(staging, id, turn))?.name === name) return true;
  }
  return false;
}
