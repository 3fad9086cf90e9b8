import type { Context } from 'hono';
import type { ApiEnv } from '../access.ts';
import type { Asker } from '../asker.ts';
import type { Queryable } from '../database/db.ts';
import { notFound, permissionDenied } from '../errors.ts';
import { PRIVILEGE, type Privilege } from '../levels.ts';
import { parseRowId } from '../row-id.ts';
import { loadInvitations } from './collaborator-store.ts';
import { privilegeOf } from './permission.ts';
import { loadDashboard, lockDashboards, type StoredDashboard } from './store.ts';

/** A dashboard as one who asks may see it. */
export interface OpenedDashboard {
  readonly dashboard: StoredDashboard;
  readonly privilege: Privilege;
}

export interface OpenOptions {
  /** Deleted ones too. Left out: they are not found. */
  readonly deletedToo?: boolean;
  /** Message when it is not found; left out: the general one. */
  readonly missing?: string;
}

/** Id of a path; what is no integer is the id of nothing. */
export function dashboardIdOf(c: Context<ApiEnv>, name: 'id' | 'dashboard_id', missing?: string): number {
  const id = parseRowId(c.req.param(name));
  if (id === undefined) throw notFound(missing);
  return id;
}

/** For looking at: 404 when it is not there. */
export async function openDashboard(
  db: Queryable,
  asker: Asker,
  id: number,
  { deletedToo = false, missing }: OpenOptions = {},
): Promise<OpenedDashboard> {
  const dashboard = await loadDashboard(db, asker.projectId, id);
  if (dashboard === undefined || (dashboard.deleted && !deletedToo)) throw notFound(missing);
  const invitations = await loadInvitations(db, asker.userId, [id]);
  return { dashboard, privilege: privilegeOf(dashboard, asker, invitations.get(id)) };
}

/** For changing: 403 to who may not. */
export async function openForEditing(
  db: Queryable,
  asker: Asker,
  id: number,
  options?: OpenOptions,
): Promise<StoredDashboard> {
  const { dashboard, privilege } = await openDashboard(db, asker, id, options);
  if (privilege < PRIVILEGE.edit) {
    throw permissionDenied("You don't have edit permissions for this dashboard.");
  }
  return dashboard;
}

/** The same, locked until the transaction ends, so that of two changes at once none is lost. */
export async function lockForEditing(
  tx: Queryable,
  asker: Asker,
  id: number,
  options?: OpenOptions,
): Promise<StoredDashboard> {
  await lockDashboards(tx, asker.projectId, [id]);
  return openForEditing(tx, asker, id, options);
}
