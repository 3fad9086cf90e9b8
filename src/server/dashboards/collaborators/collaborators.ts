import { z } from 'zod';
import type { Caller } from '../../auth/access.ts';
import { PRIVILEGE, RESTRICTION } from '../../auth/levels.ts';
import { loadMemberLevel, loadUserByUuid, type User } from '../../auth/users.ts';
import type { Db, Queryable } from '../../database/db.ts';
import { invalidInput, notFound } from '../../http/errors.ts';
import { recordChange } from '../activity.ts';
import { lockForEditing } from '../open-dashboard.ts';
import { mayRestrict } from '../permission.ts';
import type { StoredDashboard } from '../store.ts';
import { deleteCollaborator, loadCollaborators, type StoredCollaborator, saveCollaborator } from './store.ts';

/** The 404 of what belongs to a dashboard names what is missing. */
export const MISSING = 'Dashboard not found.';

/** Invites a member of the organisation who could not edit the dashboard otherwise. */
export async function addCollaborator(
  db: Db,
  caller: Caller,
  dashboardId: number,
  wanted: { readonly userUuid: string; readonly organizationId: string },
): Promise<{ collaborator: StoredCollaborator; user: User }> {
  return db.transaction(async (tx) => {
    const dashboard = await lockForEditing(tx, caller, dashboardId, { missing: MISSING });
    if (dashboard.restriction === RESTRICTION.everyone) {
      throw invalidInput('Cannot add collaborators to a dashboard on the lowest restriction level.');
    }
    const user = await findInvitable(tx, dashboard, wanted);
    const collaborator = await saveCollaborator(tx, dashboardId, user.id, PRIVILEGE.edit);
    if (collaborator === undefined) throw invalidInput('User already is a collaborator.');
    await recordChange(tx, caller, dashboard, 'updated', [
      { field: 'collaborators', before: null, after: user.uuid },
    ]);
    return { collaborator, user };
  });
}

async function findInvitable(
  tx: Queryable,
  dashboard: StoredDashboard,
  { userUuid, organizationId }: { readonly userUuid: string; readonly organizationId: string },
): Promise<User> {
  const user = await loadUserByUuid(tx, userUuid);
  if (user === undefined) throw invalidInput('User does not exist.');
  const memberLevel = await loadMemberLevel(tx, organizationId, user.id);
  if (memberLevel === undefined) {
    throw invalidInput('Cannot add collaborators that have no access to the project.');
  }
  if (mayRestrict(dashboard, { userId: user.id, memberLevel })) {
    throw invalidInput(
      'Cannot add collaborators that already have inherent access (the dashboard owner or a project admins).',
    );
  }
  return user;
}

export async function removeCollaborator(
  db: Db,
  caller: Caller,
  dashboardId: number,
  userUuid: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const dashboard = await lockForEditing(tx, caller, dashboardId, { missing: MISSING });
    const user = z.uuid().safeParse(userUuid).success ? await loadUserByUuid(tx, userUuid) : undefined;
    const collaborators = await loadCollaborators(tx, dashboardId);
    const invited = collaborators.find(({ userId }) => userId === user?.id);
    if (user === undefined || invited === undefined) throw notFound();
    if (dashboard.restriction === RESTRICTION.everyone) {
      throw invalidInput('Cannot remove collaborators from a dashboard on the lowest restriction level.');
    }
    await deleteCollaborator(tx, invited.id);
    await recordChange(tx, caller, dashboard, 'updated', [
      { field: 'collaborators', before: user.uuid, after: null },
    ]);
  });
}
