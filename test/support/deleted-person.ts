import type { Db } from '../../src/server/database/db.ts';
import { queueDeletion } from '../../src/server/deletions/queue-deletion.ts';

/** Removes the person with this id together with the events, as DELETE does: they go when a run comes round. */
export function deletePersonWithEvents(db: Db, projectId: number, distinctId: string): Promise<string> {
  return db.transaction(async (tx) => {
    const [person] = await tx.query<{ id: number; uuid: string; ids: string[] }>(
      `select p.id, p.uuid, array_agg(d.distinct_id) as ids
       from persons p join person_distinct_ids d on d.person_id = p.id
       where p.id = (select person_id from person_distinct_ids where project_id = $1 and distinct_id = $2)
       group by p.id`,
      [projectId, distinctId],
    );
    if (person === undefined) throw new Error(`nobody has the id ${distinctId}`);
    await queueDeletion(tx, { projectId, personUuid: person.uuid, distinctIds: person.ids, userId: null });
    await tx.query('delete from persons where id = $1', [person.id]);
    return person.uuid;
  });
}
