import type { Queryable } from '../database/db.ts';
import { deleteDoomed, insertDeletion, sleep, wasOpen } from './store.ts';

export interface WantedDeletion {
  readonly projectId: number;
  readonly personUuid: string;
  /** All ids that the person has at this moment. */
  readonly distinctIds: readonly string[];
  /** Who asked for it; null: the system itself. */
  readonly userId: number | null;
}

/**
 * Queues the deletion of a person's events. Call it in the transaction that removes the person, under the
 * lock of the project.
 *
 * The scope is fixed here: the events of these ids whose `received_at` is not later than the row's
 * `covers_until`, which are those that are stored by now (arrivals.ts). Later owners of the ids do not matter:
 *
 * - Ids that were merged into the person are among its ids. Their events are deleted, whichever person they
 *   were stored for.
 * - Ids that were split off belong to somebody else by now. Their events stay, even those that were stored
 *   for this person.
 * - An id that comes back belongs to a new person, and its events from then on stay. The older ones are
 *   deleted, even when the new person has been merged into another meanwhile.
 * - An event in scope that is sent again before the job runs is a new one (`releaseResent`).
 */
export async function queueDeletion(tx: Queryable, wanted: WantedDeletion): Promise<void> {
  await insertDeletion(tx, wanted);
  // The embedded database's clock counts milliseconds. As the lock is held past the end of this one, no
  // later event can have the same time.
  await sleep(tx, 2);
}

/**
 * Handles stored events that are sent again. Usually that is a retry, and the stored ones stay. Those in the
 * scope of an open deletion belong to a deleted person: sent again, they are events of a new person and must
 * not be deleted with the old one's. So the old ones are deleted now, as if the job had run in between. The
 * job may also be running, and have deleted some since they were looked up.
 *
 * Call it in the transaction of the ingestion, under the lock of the project. True: some may be gone, so
 * look them up again; no more are deleted before the end of the transaction.
 */
export async function releaseResent(
  tx: Queryable,
  projectId: number,
  uuids: readonly string[],
): Promise<boolean> {
  if (!(await wasOpen(tx, projectId))) return false;
  await deleteDoomed(tx, projectId, uuids);
  return true;
}
