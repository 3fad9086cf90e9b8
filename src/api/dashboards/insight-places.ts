import type { Queryable } from '../database/db.ts';
import type { GuardedPlace } from '../insight-body.ts';
import { loadInvitations } from './collaborator-store.ts';
import { type Asker, PRIVILEGE, privilegeOf, RESTRICTION } from './permission.ts';
import { loadDashboardsById } from './store.ts';
import { loadPlaces } from './tile-store.ts';

/**
 * The tiles that show these insights, each with what its dashboard allows the one who asks. A dashboard
 * that is deleted restricts nobody.
 */
export async function loadInsightPlaces(
  db: Queryable,
  asker: Asker,
  insightIds: readonly number[],
): Promise<GuardedPlace[]> {
  const places = await loadPlaces(db, insightIds);
  const ids = [...new Set(places.map(({ dashboardId }) => dashboardId))];
  const dashboards = await loadDashboardsById(db, asker.projectId, ids);
  const invitations = await loadInvitations(db, asker.userId, ids);
  const levels = new Map(
    dashboards
      .filter(({ deleted }) => !deleted)
      .map((dashboard) => {
        const privilege = privilegeOf(dashboard, asker, invitations.get(dashboard.id));
        return [dashboard.id, { restriction: dashboard.restriction, privilege }];
      }),
  );
  return places.map((place) => ({ ...place, ...(levels.get(place.dashboardId) ?? OPEN) }));
}

const OPEN = { restriction: RESTRICTION.everyone, privilege: PRIVILEGE.edit };
