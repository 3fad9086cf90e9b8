import type { Privilege } from '../../auth/levels.ts';
import type { Queryable } from '../../database/db.ts';

/** Somebody who was invited to edit a dashboard. */
export interface StoredCollaborator {
  readonly id: string;
  readonly dashboardId: number;
  readonly userId: number;
  readonly level: Privilege;
  readonly addedAt: string;
  readonly updatedAt: string;
}

const COLUMNS = `c.id, c.dashboard_id as "dashboardId", c.user_id as "userId", c.level,
  c.added_at as "addedAt", c.updated_at as "updatedAt"`;

/** In the order they were added. */
export async function loadCollaborators(db: Queryable, dashboardId: number): Promise<StoredCollaborator[]> {
  return db.query<StoredCollaborator>(
    `select ${COLUMNS} from dashboard_collaborators c where c.dashboard_id = $1 order by c.added_at, c.id`,
    [dashboardId],
  );
}

/** The levels that a user was invited at, by dashboard. */
export async function loadInvitations(
  db: Queryable,
  userId: number,
  dashboardIds: readonly number[],
): Promise<Map<number, Privilege>> {
  const rows = await db.query<{ id: number; level: Privilege }>(
    `select dashboard_id as id, level from dashboard_collaborators
     where user_id = $1 and dashboard_id = any($2::integer[])`,
    [userId, dashboardIds],
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
  const [row] = await tx.query<StoredCollaborator>(
    `insert into dashboard_collaborators as c (dashboard_id, user_id, level) values ($1, $2, $3)
     on conflict (dashboard_id, user_id) do nothing returning ${COLUMNS}`,
    [dashboardId, userId, level],
  );
  return row;
}

export async function deleteCollaborator(tx: Queryable, id: string): Promise<void> {
  await tx.query('delete from dashboard_collaborators where id = $1', [id]);
}
