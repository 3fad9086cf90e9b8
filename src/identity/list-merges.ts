import type { Staging } from '../contract/staging.ts';
import { type MergesIndex, readMerges } from '../state/resolved-facts.ts';
import { emptyPersonsTally } from './persons-tally.ts';
import type { SentChunk } from './send-chunks.ts';
import { createMergeEvent } from './synthetic-events.ts';

/**
 * Second pass over persons: the accepted merges of a range as events, object by object, so that memory does not
 * depend on how many ids one user has. A position is the number of merges before it in the range.
 */
export async function* listMerges(
  staging: Staging,
  indexes: readonly MergesIndex[],
  { after, chunkEvents }: { readonly after: string | undefined; readonly chunkEvents: number },
): AsyncGenerator<SentChunk> {
  const sentBefore = Number(after ?? 0);
  let position = 0;
  for (const index of indexes) {
    if (position + index.count <= sentBefore) {
      position += index.count;
      continue;
    }
    let events: SentChunk['events'][number][] = [];
    for await (const [userId, anonId, time] of readMerges(staging, index)) {
      position += 1;
      if (position <= sentBefore) continue;
      events.push(createMergeEvent(userId, anonId, time));
      if (events.length < chunkEvents) continue;
      yield toChunk(events, position);
      events = [];
    }
    if (events.length > 0) yield toChunk(events, position);
  }
}

const toChunk = (events: SentChunk['events'], position: number): SentChunk => ({
  events,
  tally: { ...emptyPersonsTally(), pairs: events.length },
  position: String(position),
});
