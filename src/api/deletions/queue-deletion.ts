import type { Queryable } from '../database/db.ts';
import type { WantedDeletion } from '../deletion-port.ts';

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
 */
export async function queueDeletion(tx: Queryable, wanted: WantedDeletion): Promise<void> {
  await tx.query(
    `insert into deletions (project_id, person_uuid, distinct_ids, created_by)
     values ($1, $2, $3::text[], $4)`,
    [wanted.projectId, wanted.personUuid, wanted.distinctIds, wanted.userId],
  );
  // The embedded database's clock counts milliseconds. With the lock held over the end of this one, no
  // later event can carry it.
  await tx.query('select pg_sleep(0.002)');
}
