import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadIfWhole } from '../../state/document.ts';
import { layout } from '../../state/keys.ts';
import { listLedgersOf } from '../../state/ledger/ledger.ts';
import { loadTurns } from '../../state/ledger/turns.ts';
import { loadLatestEpoch } from '../../state/migrations.ts';

/** Marks that the identity facts of a migration were removed. */
const factsRemoved = z.looseObject({
  /** The last turn of each ledger that knew them then: one that has only earlier turns is from before. */
  turns: z.record(z.string(), z.number().int().nonnegative()).optional(),
  /** Of its last epoch, which is removed as well: by these it is known that a key of another name is the same. */
  ledger: z.string().optional(),
  key: z.string().optional(),
});

export const areFactsRemoved = async (staging: Staging, name: string): Promise<boolean> =>
  (await staging.get(layout(name).factsRemoved)) !== undefined;

const loadMark = (staging: Staging, name: string) =>
  loadIfWhole(factsRemoved, layout(name).factsRemoved, staging);

export const loadTurnsAtRemoval = async (
  staging: Staging,
  name: string,
): Promise<Readonly<Record<string, number>>> => (await loadMark(staging, name))?.turns ?? {};

/** The ledger that its last producer had, also of a migration whose epochs were removed. */
export const loadLastLedger = async (
  staging: Staging,
  name: string,
): Promise<{ readonly ledger?: string | undefined; readonly key?: string | undefined } | undefined> =>
  (await loadLatestEpoch(staging, name)) ?? (await loadMark(staging, name));

/** May be called again. */
export async function markFactsRemoved(staging: Staging, name: string, at: Date): Promise<void> {
  const turns = { ...(await loadTurnsAtRemoval(staging, name)) };
  for (const ledger of await listLedgersOf(staging, name))
    turns[ledger] = Math.max((await loadTurns(staging, ledger)).last, turns[ledger] ?? 0);
  const { ledger, key } = (await loadLastLedger(staging, name)) ?? {};
  await staging.put(layout(name).factsRemoved, encodeDocument({ at: at.toISOString(), turns, ledger, key }));
}
