import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadIfWhole } from '../../state/document.ts';
import { layout } from '../../state/keys.ts';
import { listLedgersOf } from '../../state/ledger/ledger.ts';
import { loadTurns } from '../../state/ledger/turns.ts';

/** Marks that the identity facts of a migration were removed. */
const factsRemoved = z.looseObject({
  /** The last turn of each ledger that knew them then: one that has only earlier turns is from before. */
  turns: z.record(z.string(), z.number().int().nonnegative()).optional(),
});

export const areFactsRemoved = async (staging: Staging, name: string): Promise<boolean> =>
  (await staging.get(layout(name).factsRemoved)) !== undefined;

export async function loadTurnsAtRemoval(
  staging: Staging,
  name: string,
): Promise<Readonly<Record<string, number>>> {
  return (await loadIfWhole(factsRemoved, layout(name).factsRemoved, staging))?.turns ?? {};
}

/** May be called again. */
export async function markFactsRemoved(staging: Staging, name: string, at: Date): Promise<void> {
  const turns = { ...(await loadTurnsAtRemoval(staging, name)) };
  for (const ledger of await listLedgersOf(staging, name))
    turns[ledger] = Math.max((await loadTurns(staging, ledger)).last, turns[ledger] ?? 0);
  await staging.put(layout(name).factsRemoved, encodeDocument({ at: at.toISOString(), turns }));
}
