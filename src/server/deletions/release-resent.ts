import type { Queryable } from '../database/db.ts';
import { deleteDoomed, wasOpen } from './store.ts';

/**
 * Events that are stored, and sent again. Mostly that is a repeat, and the stored ones stay. But those that
 * a deletion waits for belong to a person who is gone: sent again, after the person was deleted, they are
 * events of a new person, and must not go with the old one's. So the old ones go now, and the new ones come
 * in: as if the job had run in between. It may also be running: what it took since these were seen is gone.
 * In the transaction of the ingestion, under the lock of the project; true: look again at what is stored.
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
