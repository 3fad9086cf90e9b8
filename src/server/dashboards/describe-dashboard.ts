import type { Caller } from '../auth/access.ts';
import { loadUsers, type User } from '../auth/users.ts';
import type { Queryable } from '../database/db.ts';
import type { JsonObject } from '../http/json.ts';
import { loadInvitations } from './collaborators/store.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import {
  getUser,
  type InsightContext,
  renderFailure,
  renderFreshness,
  renderInsightBody,
} from './insights/body.ts';
import type { OpenedDashboard } from './open-dashboard.ts';
import { computePrivilege } from './permission.ts';
import type { DashboardBody, ListedDashboardBody } from './schema.ts';
import type { StoredDashboard } from './store.ts';
import { loadPlaces, type StoredText } from './tiles/store.ts';
import type { TileView } from './tiles/view-tiles.ts';

/** The items of the list. */
export async function describeListed(
  db: Queryable,
  caller: Caller,
  dashboards: readonly StoredDashboard[],
): Promise<ListedDashboardBody[]> {
  const ids = dashboards.map(({ id }) => id);
  const invitations = await loadInvitations(db, caller.userId, ids);
  const users = await loadUsers(db, known(dashboards.map(({ createdBy }) => createdBy)));
  return dashboards.map((dashboard) =>
    renderListed(
      { dashboard, privilege: computePrivilege(dashboard, caller, invitations.get(dashboard.id)) },
      users,
    ),
  );
}

/** One dashboard with its tiles. */
export async function describeDashboard(
  { db }: Pick<DashboardDeps, 'db'>,
  opened: OpenedDashboard,
  views: readonly TileView[],
  deleteInsights: boolean,
): Promise<DashboardBody> {
  const { dashboard, privilege } = opened;
  const users = await loadUsers(db, known([dashboard.createdBy, ...views.flatMap(listUserIds)]));
  const shown = views.flatMap(({ insight }) => (insight ? [insight.id] : []));
  const around = {
    projectId: dashboard.projectId,
    users,
    places: shown.length === 0 ? [] : await loadPlaces(db, shown),
    restriction: dashboard.restriction,
    privilege,
  };
  return {
    ...renderListed(opened, users),
    use_template: dashboard.useTemplate,
    use_dashboard: dashboard.useDashboard,
    delete_insights: deleteInsights,
    filters: dashboard.filters,
    tiles: views.map((view) => renderTile(view, around)),
  };
}

const listUserIds = ({ tile, insight }: TileView) => [
  tile.text?.createdBy,
  tile.text?.lastModifiedBy,
  insight?.createdBy,
  insight?.lastModifiedBy,
];

const known = (ids: readonly (number | null | undefined)[]) => ids.filter((id) => id != null);

function renderListed(
  { dashboard, privilege }: OpenedDashboard,
  users: ReadonlyMap<number, User>,
): ListedDashboardBody {
  return {
    id: dashboard.id,
    name: dashboard.name,
    description: dashboard.description,
    pinned: dashboard.pinned,
    created_at: dashboard.createdAt,
    created_by: (dashboard.createdBy === null ? undefined : users.get(dashboard.createdBy)) ?? null,
    is_shared: dashboard.isShared,
    deleted: dashboard.deleted,
    creation_mode: dashboard.creationMode,
    tags: [...dashboard.tags],
    restriction_level: dashboard.restriction,
    effective_restriction_level: dashboard.restriction,
    effective_privilege_level: privilege,
  };
}

/** What the body of a tile contains beside the tile itself. */
interface TileContext extends InsightContext {
  readonly projectId: number;
}

/** A tile in the shape that clients of the service read. A failed result adds `error`. */
function renderTile({ tile, insight, result }: TileView, context: TileContext): JsonObject {
  return {
    id: tile.id,
    layouts: tile.layouts,
    color: tile.color,
    insight: insight ? renderInsightBody(insight, result, context) : null,
    text: tile.text ? renderText(tile.text, context) : null,
    ...renderFreshness(result),
    ...renderFailure(result),
  };
}

function renderText(text: StoredText, { users, projectId }: TileContext): JsonObject {
  return {
    id: text.id,
    body: text.body,
    created_by: getUser(users, text.createdBy),
    last_modified_at: text.lastModifiedAt,
    last_modified_by: getUser(users, text.lastModifiedBy),
    team: projectId,
  };
}
