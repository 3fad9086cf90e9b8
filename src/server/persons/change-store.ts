import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';

/** Statements that change persons past ingestion. The caller holds the project's lock. */

export async function clearProperties(tx: Queryable, personId: number): Promise<void> {
  await runSql(tx, sql`update persons set properties = '{}', updated_at = default where id = ${personId}`);
}

/**
 * Gives each of these ids of a person a person of its own, in this order, without properties. Each begins
 * with the first event of its id, or else when the person began: the same on every call.
 */
export async function splitOff(
  tx: Queryable,
  projectId: number,
  personId: number,
  distinctIds: readonly string[],
): Promise<void> {
  await runSql(
    tx,
    sql`with split as (
        select wanted.distinct_id, wanted.position, gen_random_uuid() as uuid, coalesce(
          (select min(e.timestamp) from events e
            where e.project_id = ${projectId} and e.distinct_id = wanted.distinct_id),
          (select p.created_at from persons p where p.id = ${personId})) as created_at
        from unnest(${distinctIds}::text[]) with ordinality as wanted (distinct_id, position)
      ), created as (
        insert into persons (project_id, uuid, properties, is_identified, created_at)
        select ${projectId}, uuid, '{}', false, created_at from split order by position
        returning id, uuid
      )
      update person_distinct_ids d set person_id = created.id
      from split join created using (uuid)
      where d.project_id = ${projectId} and d.distinct_id = split.distinct_id`,
  );
}

/** Ids and memberships go with the row that they point to. */
export async function deletePerson(tx: Queryable, personId: number): Promise<void> {
  await runSql(tx, sql`delete from persons where id = ${personId}`);
}
