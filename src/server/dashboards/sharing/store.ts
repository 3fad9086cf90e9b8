import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';

/** Whether a dashboard has a public page, and the secret in its address. */
export interface Sharing {
  readonly enabled: boolean;
  readonly accessToken: string;
  /** Null: never stored. */
  readonly createdAt: string | null;
}

const COLUMNS = sql`enabled, access_token as "accessToken", created_at as "createdAt"`;

/** 176 random bits, so that it cannot be guessed. */
export const createAccessToken = (): string => randomBytes(22).toString('base64url');

export async function loadSharing(db: Queryable, dashboardId: number): Promise<Sharing | undefined> {
  const [row] = await runSql<Sharing>(
    db,
    sql`select ${COLUMNS} from dashboard_sharing where dashboard_id = ${dashboardId}`,
  );
  return row;
}

/** The token that was stored first stays, however often the page is turned off and on. */
export async function saveSharing(tx: Queryable, dashboardId: number, enabled: boolean): Promise<Sharing> {
  const token = createAccessToken();
  const [row] = await runSql<Sharing>(
    tx,
    sql`insert into dashboard_sharing (dashboard_id, enabled, access_token, token_hash)
      values (${dashboardId}, ${enabled}, ${token}, ${hashToken(token)})
      on conflict (dashboard_id) do update set enabled = excluded.enabled
      returning ${COLUMNS}`,
  );
  if (row === undefined) throw new Error('insert into dashboard_sharing returned no row');
  return row;
}

/**
 * The dashboard of a token, if its page is on. Looked up by hash, so that the timing of the comparison
 * reveals nothing about the token.
 */
export async function findShared(
  db: Queryable,
  accessToken: string,
): Promise<{ id: number; projectId: number } | undefined> {
  const [row] = await runSql<{ id: number; projectId: number }>(
    db,
    sql`select d.id, d.project_id as "projectId"
      from dashboard_sharing s join dashboards d on d.id = s.dashboard_id
      where s.token_hash = ${hashToken(accessToken)} and s.enabled and not d.deleted`,
  );
  return row;
}

const hashToken = (token: string) => createHash('sha256').update(token).digest('hex');
