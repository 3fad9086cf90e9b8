import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { hasItsSample, sentRange } from '../../identity/sent-range.ts';
import { encodeDocument, loadDocument, loadIfWhole } from '../../state/document.ts';
import { layout } from '../../state/keys/migration.ts';
import { isDocument } from '../../state/keys/ordinal.ts';
import { parseEndedTurnKey, parseTurnKey } from '../../state/keys/turn.ts';

/** One turn of a migration at its ledger. */
export const turnPlan = z.strictObject({
  ledger: z.string(),
  /** Digest of the key of the ledger's hashes, by which everything in the turn is decided; earlier versions do not say. */
  hashes: z.string().exactOptional(),
  /** `note`: the manifest holds persons back. */
  purpose: z.enum(['send', 'note']),
  /** Migrations whose facts are resolved: itself, or those that it releases. */
  of: z.array(z.string()),
  /** Fingerprint of these facts. */
  facts: z.string(),
  /** How many receipts each of them had, so that no listing that is behind is taken for all; absent in earlier versions. */
  receipts: z.array(z.number().int().nonnegative()).exactOptional(),
  /** Ranges that the buckets are cut into; constant, because each range has receipts. */
  ranges: z.number().int().positive(),
  /** Whether all ids were resolved, after which merges are sent; earlier versions do not say. */
  mayHaveSent: z.boolean().exactOptional(),
  /** Its earlier turns that had come to something: what a sleeper says of the others later does not count (I5). */
  ended: z.array(z.number().int().positive()).exactOptional(),
});
export type TurnPlan = z.infer<typeof turnPlan>;

export const loadTurnPlan = (staging: Staging, name: string, turn: number) =>
  loadDocument(turnPlan, layout(name).turn(turn), staging);

export async function saveTurnPlan(
  staging: Staging,
  name: string,
  turn: number,
  plan: TurnPlan,
): Promise<void> {
  await staging.put(layout(name).turn(turn), encodeDocument(plan));
}

/** What a turn came to; kept when its working data is removed. */
const endedTurn = z.strictObject({
  turn: z.number().int().positive(),
  purpose: z.enum(['send', 'note']),
  of: z.array(z.string()),
  /** Fingerprint of the migration's own facts. */
  facts: z.string().exactOptional(),
  result: sentRange.refine(hasItsSample, 'the events refused do not fit their sample'),
});
export type EndedTurn = z.infer<typeof endedTurn>;

/** Which migration sent the persons of a held one, and in which turn. */
const released = z.strictObject({
  by: z.string(),
  turn: z.number().int().positive(),
  /** Fingerprint of the held migration's facts. */
  facts: z.string().exactOptional(),
});
type Released = z.infer<typeof released>;

/** May be called again. Each release has its own document, so that of two that overlap both are known. */
export async function noteRelease(staging: Staging, name: string, release: Released): Promise<void> {
  const { by, turn } = release;
  await staging.put(layout(name).releasedIn(by, turn), encodeDocument(release));
}

/** The releases of what a migration held, in the order of their turns; undefined in place of what `load` cannot read. */
export async function listReleases(
  staging: Staging,
  name: string,
  load: typeof loadDocument = loadDocument,
): Promise<(Released | undefined)[]> {
  const keys = layout(name);
  const found: (Released | undefined)[] = [];
  for (const prefix of [keys.released, keys.releases])
    for await (const { key } of staging.list(prefix))
      if (isDocument(key)) found.push(await load(released, key, staging));
  return found.sort((a, b) => (a?.turn ?? 0) - (b?.turn ?? 0));
}

/**
 * What the turns of a migration came to, in their order. Each producer writes its own document, and of several about
 * one turn that of the newest epoch counts.
 */
export async function listEndedTurns(staging: Staging, name: string): Promise<EndedTurn[]> {
  const all: EndedTurn[] = [];
  for (const [turn, epoch] of await listEpochsThatCount(staging, name)) {
    const one = await loadDocument(endedTurn, layout(name).endedTurn(turn, epoch), staging);
    if (one) all.push(one);
  }
  return all;
}

/** The same without reading what they came to, which may be damaged. */
export const listTurnsThatCount = async (staging: Staging, name: string): Promise<number[]> =>
  (await listEpochsThatCount(staging, name)).map(([turn]) => turn);

async function listEpochsThatCount(staging: Staging, name: string): Promise<[turn: number, epoch: number][]> {
  const epochs = await listEndedEpochs(staging, name);
  for await (const { key } of staging.list(layout(name).turns)) {
    const later = parseTurnKey(key);
    const plan = later === undefined ? undefined : await loadIfWhole(turnPlan, key, staging);
    if (later === undefined || !plan?.ended) continue;
    for (const turn of epochs.keys()) if (turn < later && !plan.ended.includes(turn)) epochs.delete(turn);
  }
  return [...epochs].sort(([a], [b]) => a - b);
}

/** The newest epoch that says what a turn came to, by turn. */
export async function listEndedEpochs(staging: Staging, name: string): Promise<Map<number, number>> {
  const epochs = new Map<number, number>();
  for await (const { key } of staging.list(layout(name).endedTurns)) {
    const { turn = 0, epoch = 0 } = parseEndedTurnKey(key) ?? {};
    if (epoch > (epochs.get(turn) ?? 0)) epochs.set(turn, epoch);
  }
  return epochs;
}

/** Undefined also where it is damaged. */
export async function findEndedTurn(
  staging: Staging,
  name: string,
  turn: number,
): Promise<EndedTurn | undefined> {
  const epoch = (await listEndedEpochs(staging, name)).get(turn);
  return epoch === undefined
    ? undefined
    : loadIfWhole(endedTurn, layout(name).endedTurn(turn, epoch), staging);
}
