import type { Staging } from '../../contract/staging.ts';
import { type MergesIndex, readMerges } from '../../state/facts/resolved-facts.ts';
import { emptyPersonsTally, tallyUnmerged, type Unmerged } from '../persons-tally.ts';
import type { SentChunk } from '../send-chunks.ts';
import { createMergeEvent } from '../synthetic-events.ts';

export interface ListMergesOptions {
  readonly after: string | undefined;
  readonly chunkEvents: number;
  /** Under which the ledger has an id. */
  readonly hashId?: (id: string) => Uint8Array;
  /** @default no user is */
  readonly isContradicted?: (userId: string) => boolean;
}

/**
 * Second pass over persons: the accepted merges of a range as events, object by object, so that memory does not
 * depend on how many ids one user has. A position is the number of merges before it in the range. Merges into a
 * user that is contradicted itself are left out: its id belongs to another person at the destination.
 */
export async function* listMerges(
  staging: Staging,
  indexes: readonly MergesIndex[],
  { after, chunkEvents, hashId, isContradicted = () => false }: ListMergesOptions,
): AsyncGenerator<SentChunk> {
  const sentBefore = Number(after ?? 0);
  let position = 0;
  for (const index of indexes) {
    if (position + index.count <= sentBefore) {
      position += index.count;
      continue;
    }
    let events: SentChunk['events'][number][] = [];
    let anonIds: string[] = [];
    let unmerged: Unmerged[] = [];
    let leftOut: Uint8Array[] = [];
    for (const [userId, anonId, time] of await readMerges(staging, index)) {
      position += 1;
      if (position <= sentBefore) continue;
      if (isContradicted(userId)) {
        unmerged.push({ reason: 'merged_user', id: anonId, users: [userId], userCount: 1 });
        if (hashId) leftOut.push(hashId(anonId));
      } else {
        events.push(createMergeEvent(userId, anonId, time));
        anonIds.push(anonId);
      }
      if (events.length + unmerged.length < chunkEvents) continue;
      yield { ...toChunk(events, unmerged, position), ...toRecords(anonIds, hashId), leftOut };
      events = [];
      anonIds = [];
      unmerged = [];
      leftOut = [];
    }
    if (events.length + unmerged.length > 0)
      yield { ...toChunk(events, unmerged, position), ...toRecords(anonIds, hashId), leftOut };
  }
}

const toRecords = (
  anonIds: readonly string[],
  hashId: ListMergesOptions['hashId'],
): Pick<SentChunk, 'listRecords'> =>
  hashId ? { listRecords: (event) => [hashId(anonIds[event] ?? '')] } : {};

const toChunk = (
  events: SentChunk['events'],
  unmerged: readonly Unmerged[],
  position: number,
): SentChunk => ({
  events,
  tally: { ...emptyPersonsTally(), ...tallyUnmerged(unmerged), pairs: events.length },
  position: String(position),
});
