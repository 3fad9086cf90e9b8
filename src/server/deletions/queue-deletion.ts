import type { Queryable } from '../database/db.ts';
import type { WantedDeletion } from './deletion-port.ts';
import { insertDeletion, sleep } from './store.ts';

/**
 * Which events go is settled here: those of these ids whose `received_at` is not later than the row's
 * `created_at`. Ingestion writes the one and this the other, both under the lock of the project, so that
 * their order is the order of the transactions; who owns the ids later does not matter any more.
 *
 * - Ids that were merged into the person are among its ids, and their events go, whichever person they
 *   were stored for.
 * - Ids that were split off belong to somebody else by now, and their events stay, even those that were
 *   stored for this person.
 * - An id that comes back belongs to a new person, as do its events from then on; they stay. The older
 *   ones go, even when the new person has been merged into another meanwhile.
 * - An event that goes, and is sent again before the job comes round, is a new one (release-resent.ts).
 */
export async function queueDeletion(tx: Queryable, wanted: WantedDeletion): Promise<void> {
  await insertDeletion(tx, wanted);
  // The embedded database's clock counts milliseconds. With the lock held over the end of this one, no
  // later event can carry it.
  await sleep(tx, 2);
}
