import { createHash } from 'node:crypto';
import type { Staging } from '../../../contract/staging.ts';
import { loadIfWhole } from '../../../state/document.ts';
import { layout } from '../../../state/keys/migration.ts';
import { parseTurnKey } from '../../../state/keys/turn.ts';
import type { Ledger } from '../../../state/ledger/ledger.ts';
import { loadTurnDocument } from '../../../state/ledger/turns.ts';
import { loadMigration, type MigrationRecord } from '../../../state/migrations.ts';
import { listReleases, turnPlan } from '../turn.ts';

/*
 * A project has a ledger for its name and one for each of its keys, and a migration sends under one of them. What it sent
 * at another one than that of a turn counts there as perhaps sent: it may have gone to another project.
 */

/**
 * The turns at other ledgers in which what a migration says may have been sent: its own, and those of migrations that
 * release it; or at this one before it was lost. A turn that the ledger knows was entered there before it was sent. `releasing`: see listReleasing.
 */
export async function listSentElsewhere(
  staging: Staging,
  ledger: Pick<Ledger, 'id'>,
  { id, name }: Pick<MigrationRecord, 'id' | 'name'>,
  releasing: Releasing,
): Promise<ReadonlySet<string>> {
  const senders = [{ id, name }, ...(releasing.get(name) ?? [])];
  const found = new Set<string>();
  const here = new Set<string>();
  for (const sender of senders) {
    for await (const { key } of staging.list(layout(sender.name).turns)) {
      const turn = parseTurnKey(key);
      if (turn === undefined) continue;
      const plan = await loadIfWhole(turnPlan, key, staging);
      if (plan?.purpose === 'note' || plan?.mayHaveSent === false) continue;
      // A damaged one is of the ledger that knows the turn: its number is not given twice to a migration.
      const isHere =
        (plan?.ledger ?? ledger.id) === ledger.id &&
        (await loadTurnDocument(staging, ledger.id, turn))?.migration === sender.id;
      (isHere ? here : found).add(`${sender.name} ${turn}`);
    }
  }
  // Those that were removed since have no turns any more.
  for (const release of await listReleases(staging, name, loadIfWhole)) {
    if (!release || here.has(`${release.by} ${release.turn}`)) continue;
    const { by, turn } = release;
    if ((await loadTurnDocument(staging, ledger.id, turn))?.name !== by) found.add(`${by} ${turn}`);
  }
  return found;
}

/** By the name of a migration, those that send or have sent what it holds. */
export type Releasing = ReadonlyMap<string, readonly Pick<MigrationRecord, 'id' | 'name'>[]>;

export async function listReleasing(staging: Staging, names: readonly string[]): Promise<Releasing> {
  const releasing = new Map<string, Pick<MigrationRecord, 'id' | 'name'>[]>();
  for (const name of names) {
    const record = await loadMigration(staging, name);
    for (const held of record?.releases ?? []) {
      const before = releasing.get(held) ?? [];
      releasing.set(held, [...before, { id: record?.id ?? '', name }]);
    }
  }
  return releasing;
}

/** By which a ledger knows of which of these turns it was told; undefined: of none. */
export const toElsewhereMark = (turns: ReadonlySet<string>): string | undefined =>
  turns.size === 0
    ? undefined
    : createHash('sha256')
        .update([...turns].sort().join('\n'))
        .digest('hex')
        .slice(0, 32);
