import type { Queryable } from '../../src/server/database/db.ts';

export type Item = Record<string, unknown>;

/** What the database holds of a distinct id, beside what the API says of it. */
export async function storedEvents(db: Queryable, projectId: number, distinctId: string) {
  const rows = await db.query<{ event: string; properties: string; person_id: string | null }>(
    'select event, properties, person_id from events where project_id = $1 and distinct_id = $2 order by event',
    [projectId, distinctId],
  );
  return rows.map((row) => ({ ...row, properties: JSON.parse(row.properties) as Item }));
}

export async function storedPerson(db: Queryable, projectId: number, distinctId: string) {
  const [row] = await db.query<{
    uuid: string;
    properties: string;
    is_identified: boolean;
    created_at: string;
  }>(
    `select p.uuid, p.properties, p.is_identified, p.created_at from persons p
     join person_distinct_ids d on d.person_id = p.id where d.project_id = $1 and d.distinct_id = $2`,
    [projectId, distinctId],
  );
  return row && { ...row, properties: JSON.parse(row.properties) as Item };
}
