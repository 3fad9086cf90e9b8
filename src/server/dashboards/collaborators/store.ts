import type { Privilege } from '../../auth/levels.ts';
import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';

/** Somebody who was invited to edit a dashboard. */
export interface StoredCollaborator {
  readonly id: string;
  readonly dashboardId: number;
  readonly userId: number;
  readonly level: Privilege;
  readonly addedAt: string;
  readonly updatedAt: string;
}

const COLUMNS = sql`c.id, c.dashboard_id as "dashboardId", c.user_id as "userId", c.level,
  c.added_at as "addedAt", c.updated_at as "updatedAt"`;

/** In the order they were added. */
export async function loadCollaborators(db: Queryable, dashboardId: number): Promise<StoredCollaborator[]> {
  return runSql<StoredCollaborator>(
    db,
    sql`select ${COLUMNS} from dashboard_collaborators c
      where c.dashboard_id = ${dashboardId} order by c.added_at, c.id`,
  );
}

/** The levels that a user was invited at, by dashboard. */
export async function loadInvitations(
  db: Queryable,
  userId: number,
  dashboardIds: readonly number[],
): Promise<Map<number, Privilege>> {
  const rows = await runSql<{ id: number; level: Privilege }>(
    db,
    sql`select dashboard_id as id, level from dashboard_collaborators
      where user_id = ${userId} and dashboard_id = any(${dashboardIds}::integer[])`,
  );
  return new Map(rows.map(({ id, level }) => [id, level]));
}

/** Undefined when the user is a collaborator already. */
export async function saveCollaborator(
  tx: Queryable,
  dashboardId: number,
  userId: number,
  level: Privilege,
): Promise<StoredCollaborator | undefined> {
  const [row] = await runSql<StoredCollaborator>(
    tx,
    sql`insert into dashboard_collaborators as c (dashboard_id, user_id, level)
       values (${dashboardId}, ${userId}, ${level})
      on conflict (dashboard_id, user_id) do nothing returning ${COLUMNS}`,
  );
  return row;
}

export async function deleteCollaborator(tx: Queryable, id: string): Promise<void> {
  await runSql(tx, sql`delete from dashboard_collaborators where id = ${id}`);
}
