import type { Caller } from '../../auth/access.ts';
import { PRIVILEGE, type Privilege, RESTRICTION, type Restriction } from '../../auth/levels.ts';
import type { Queryable } from '../../database/db.ts';
import { loadInvitations } from '../collaborators/store.ts';
import { computePrivilege } from '../permission.ts';
import { loadDashboardsById, lockDashboards } from '../store.ts';
import { loadPlaces, type TilePlace } from '../tiles/store.ts';

/** A tile that shows an insight, with what its dashboard allows the caller. */
export interface GuardedPlace extends TilePlace {
  readonly restriction: Restriction;
  readonly privilege: Privilege;
}

/** The tiles that show these insights, or did, each with what its dashboard allows the caller. */
export async function loadInsightPlaces(
  db: Queryable,
  caller: Caller,
  insightIds: readonly number[],
): Promise<GuardedPlace[]> {
  const places = await loadPlaces(db, insightIds);
  const ids = [...new Set(places.map(({ dashboardId }) => dashboardId))];
  const dashboards = await loadDashboardsById(db, caller.projectId, ids);
  const invitations = await loadInvitations(db, caller.userId, ids);
  const levels = new Map(
    dashboards.map((dashboard) => {
      const { restriction, deleted } = dashboard;
      const privilege = computePrivilege(dashboard, caller, invitations.get(dashboard.id));
      return [dashboard.id, { restriction, privilege, deleted }];
    }),
  );
  return places.map((place) => {
    const { deleted, ...level } = levels.get(place.dashboardId) ?? { ...OPEN, deleted: false };
    // Deleting a dashboard removes its tiles, and restoring it would restore them.
    return { ...place, ...(place.deleted && !deleted ? OPEN : level) };
  });
}

/**
 * Locks every dashboard that has or had a tile of these insights until the transaction ends, so that no
 * restriction or collaborator changes between the permission check and the change. Call it before the
 * insights are locked: every writer locks the dashboard first and its insights after.
 */
export async function lockInsightPlaces(
  tx: Queryable,
  projectId: number,
  insightIds: readonly number[],
): Promise<void> {
  const places = await loadPlaces(tx, insightIds);
  const ids = places.map(({ dashboardId }) => dashboardId);
  await lockDashboards(tx, projectId, [...new Set(ids)]);
}

/** Of a tile that was removed from a dashboard. */
const OPEN = { restriction: RESTRICTION.everyone, privilege: PRIVILEGE.edit };
