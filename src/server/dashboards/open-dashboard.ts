import type { Context } from 'hono';
import type { ApiEnv, Caller } from '../auth/access.ts';
import { PRIVILEGE, type Privilege } from '../auth/levels.ts';
import type { Queryable } from '../database/db.ts';
import { notFound, permissionDenied } from '../http/errors.ts';
import { parseRowId } from '../http/row-id.ts';
import { loadInvitations } from './collaborators/store.ts';
import { computePrivilege } from './permission.ts';
import { loadDashboard, lockDashboards, type StoredDashboard } from './store.ts';

/** A dashboard, and what the caller may do with it. */
export interface OpenedDashboard {
  readonly dashboard: StoredDashboard;
  readonly privilege: Privilege;
}

export interface OpenOptions {
  /**
   * Finds deleted ones too.
   * @default false
   */
  readonly deletedToo?: boolean;
  /**
   * Message when it is not found.
   * @default the general one
   */
  readonly missing?: string;
}

/** Id of a path; what is no integer is the id of nothing. */
export function parseDashboardId(c: Context<ApiEnv>, name: 'id' | 'dashboard_id', missing?: string): number {
  const id = parseRowId(c.req.param(name));
  if (id === undefined) throw notFound(missing);
  return id;
}

/** For viewing: 404 when it does not exist. */
export async function openDashboard(
  db: Queryable,
  caller: Caller,
  id: number,
  { deletedToo = false, missing }: OpenOptions = {},
): Promise<OpenedDashboard> {
  const dashboard = await loadDashboard(db, caller.projectId, id);
  if (dashboard === undefined || (dashboard.deleted && !deletedToo)) throw notFound(missing);
  const invitations = await loadInvitations(db, caller.userId, [id]);
  return { dashboard, privilege: computePrivilege(dashboard, caller, invitations.get(id)) };
}

/** For editing: 403 to callers who may not. */
export async function openForEditing(
  db: Queryable,
  caller: Caller,
  id: number,
  options?: OpenOptions,
): Promise<StoredDashboard> {
  const { dashboard, privilege } = await openDashboard(db, caller, id, options);
  if (privilege < PRIVILEGE.edit) {
    throw permissionDenied("You don't have edit permissions for this dashboard.");
  }
  return dashboard;
}

/** The same, locked until the transaction ends, so that no concurrent change is lost. */
export async function lockForEditing(
  tx: Queryable,
  caller: Caller,
  id: number,
  options?: OpenOptions,
): Promise<StoredDashboard> {
  await lockDashboards(tx, caller.projectId, [id]);
  return openForEditing(tx, caller, id, options);
}
