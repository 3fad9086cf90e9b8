import type { IdWithEvents } from './store.ts';

/**
 * Ids that go in one transaction: as many as have `limit` events together, or one that has so many by
 * itself and takes several. A person of a thousand ids with an event each costs one transaction.
 */
export function planBatches(found: readonly IdWithEvents[], limit: number): string[][] {
  const batches: string[][] = [];
  let room = 0;
  for (const { distinctId, events } of found) {
    if (events > room) {
      batches.push([]);
      room = limit;
    }
    batches.at(-1)?.push(distinctId);
    room -= events;
  }
  return batches;
}
