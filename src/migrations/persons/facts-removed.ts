import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { loadControl } from '../../state/control.ts';
import { encodeDocument, loadIfWhole } from '../../state/document.ts';
import { loadLatestEpoch } from '../../state/epochs.ts';
import { layout } from '../../state/keys/migration.ts';
import { type KnownFacts, knownFacts, listLedgersOf, loadKnownFacts } from '../../state/ledger/ledger.ts';
import { loadTurns } from '../../state/ledger/turns.ts';
import { loadRebuiltAt } from '../../state/ledger/versions.ts';
import { loadMigration } from '../../state/migrations.ts';

/** Marks that the identity facts of a migration were removed. */
const factsRemoved = z.looseObject({
  /** The last turn of each ledger that knew them then: one that has only earlier turns is from before. */
  turns: z.record(z.string(), z.number().int().nonnegative()).optional(),
  /** What each ledger knew of them that knew all: receipts may be damaged, or written late, without anything being lost. */
  known: z.record(z.string(), knownFacts).optional(),
  /** Of its last epoch, which is removed as well: by these it is known that a key of another name is the same. */
  ledger: z.string().optional(),
  key: z.string().optional(),
});

/** The mark may be lost: what control says comes before the first object goes, and after a ledger was told. */
export async function areFactsRemoved(staging: Staging, name: string): Promise<boolean> {
  if (await staging.get(layout(name).factsRemoved)) return true;
  try {
    return (await loadControl(staging, name))?.state === 'removed';
  } catch (error) {
    if (error instanceof SourceError) return false;
    throw error;
  }
}

/** Whether a migration whose persons are held was removed, or is about to be. */
export const isRemoved = async (staging: Staging, name: string): Promise<boolean> =>
  (await loadMigration(staging, name)) === undefined ||
  (await loadControl(staging, name))?.state === 'removed';

const loadMark = (staging: Staging, name: string) =>
  loadIfWhole(factsRemoved, layout(name).factsRemoved, staging);

export const loadTurnsAtRemoval = async (
  staging: Staging,
  name: string,
): Promise<Readonly<Record<string, number>>> => (await loadMark(staging, name))?.turns ?? {};

/**
 * What a ledger knew of a migration when its facts were removed; undefined unless it knew all of them, and still is the
 * same one: not made again since, nor removed and created again.
 */
export async function loadKnownAtRemoval(
  staging: Staging,
  name: string,
  ledger: string,
): Promise<KnownFacts | undefined> {
  const { known = {}, turns = {} } = (await loadMark(staging, name)) ?? {};
  const turn = turns[ledger];
  if (turn === undefined || !known[ledger]) return undefined;
  const isSame = (await loadTurns(staging, ledger)).known.has(turn);
  return isSame && (await loadRebuiltAt(staging, ledger)) <= turn ? known[ledger] : undefined;
}

/** The ledger that its last producer had, also of a migration whose epochs were removed. */
export const loadLastLedger = async (
  staging: Staging,
  name: string,
): Promise<{ readonly ledger?: string | undefined; readonly key?: string | undefined } | undefined> =>
  (await loadLatestEpoch(staging, name)) ?? (await loadMark(staging, name));

/** May be called again. `facts`: their fingerprint, where a ledger was made sure to know them. */
export async function markFactsRemoved(
  staging: Staging,
  name: string,
  { at, facts }: { readonly at: Date; readonly facts: string | undefined },
): Promise<void> {
  const before = await loadMark(staging, name);
  const turns = { ...before?.turns };
  const known = { ...before?.known };
  for (const ledger of await listLedgersOf(staging, name)) {
    turns[ledger] = Math.max((await loadTurns(staging, ledger)).last, turns[ledger] ?? 0);
    const its = await loadKnownFacts(staging, ledger, name);
    if (its && its.facts === facts) known[ledger] ??= its;
  }
  const { ledger, key } = (await loadLastLedger(staging, name)) ?? {};
  await staging.put(
    layout(name).factsRemoved,
    encodeDocument({ at: at.toISOString(), turns, known, ledger, key }),
  );
}
