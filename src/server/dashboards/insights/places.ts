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
    // A dashboard that is deleted takes all its tiles off, and with them it would come back.
    return { ...place, ...(place.deleted && !deleted ? OPEN : level) };
  });
}

/**
 * Locks every dashboard that has or had a tile of these insights until the transaction ends, so that none is
 * restricted, nor sends a collaborator away, between a look at the places and the change they allow. Before
 * the insights themselves are locked: whoever changes a dashboard locks it first and its insights after.
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

/** Of a tile that was taken off a dashboard. */
const OPEN = { restriction: RESTRICTION.everyone, privilege: PRIVILEGE.edit };
