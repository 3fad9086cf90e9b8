import type { DashboardTemplate, TemplateTile } from '../../../config/dashboards/dashboard-template.ts';
import type { Caller } from '../auth/access.ts';
import { PRIVILEGE, RESTRICTION } from '../auth/levels.ts';
import { loadProject } from '../auth/projects.ts';
import type { Queryable } from '../database/db.ts';
import { invalidInput } from '../http/errors.ts';
import { normaliseTags } from '../http/tags.ts';
import { loadEventTimes, loadRecentProperties } from '../insights/events-store.ts';
import { copyInsight, saveInsight } from '../insights/store.ts';
import { recordChange } from './activity.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { fitTemplate, type History } from './fit-template.ts';
import { openDashboard } from './open-dashboard.ts';
import { findTemplate } from './parse-template.ts';
import type { CreateBody } from './schema.ts';
import { loadDashboard, type NewDashboard, type StoredDashboard, saveDashboard } from './store.ts';
import { type StoredTile, saveText, saveTile, type TileContent } from './tiles/store.ts';
import { viewTiles } from './tiles/view-tiles.ts';

/** Creates a dashboard: empty, from a template or from another dashboard. Returns its id. */
export async function createDashboard(
  { db, now }: Pick<DashboardDeps, 'db' | 'now'>,
  caller: Caller,
  body: CreateBody,
): Promise<number> {
  const found = body.use_template ? findTemplate(body.use_template) : undefined;
  if (body.use_template && found === undefined) {
    throw invalidInput(`Invalid template provided: ${body.use_template}`, 'use_template');
  }
  return db.transaction(async (tx) => {
    const template = found && fitTemplate(found, await loadHistory(tx, caller.projectId, now()), now());
    const source = body.use_dashboard ? await findSource(tx, caller, body.use_dashboard) : undefined;
    const dashboard = await saveDashboard(tx, {
      ...newDashboard(caller, template, body),
      creationMode: template ? 'template' : source ? 'duplicate' : 'default',
      useTemplate: body.use_template ?? '',
      useDashboard: source?.id ?? null,
    });
    if (template) await addTemplateTiles(tx, dashboard, template.tiles);
    if (source) await copyTiles(tx, caller, source, dashboard, body.duplicate_tiles ?? false);
    await recordChange(tx, caller, dashboard, 'created', null);
    return dashboard.id;
  });
}

async function loadHistory(tx: Queryable, projectId: number, now: number): Promise<History | undefined> {
  const times = await loadEventTimes(tx, projectId, now);
  if (times === undefined) return undefined;
  const project = await loadProject(tx, projectId);
  return {
    last: times.last,
    timeZone: project?.timeZone ?? 'UTC',
    properties: await loadRecentProperties(tx, projectId),
  };
}

/** A dashboard from a template that a client sent. Returns its id. */
export async function createFromTemplate(
  { db }: Pick<DashboardDeps, 'db'>,
  caller: Caller,
  template: DashboardTemplate,
): Promise<number> {
  return db.transaction(async (tx) => {
    const dashboard = await saveDashboard(tx, newDashboard(caller, template, {}));
    await addTemplateTiles(tx, dashboard, template.tiles);
    await recordChange(tx, caller, dashboard, 'created', null);
    return dashboard.id;
  });
}

/** Fields of the request take precedence over those of the template; tags are combined. */
function newDashboard(
  { projectId, userId }: Caller,
  template: DashboardTemplate | undefined,
  body: CreateBody,
): NewDashboard {
  return {
    projectId,
    name: body.name || (template?.template_name ?? body.name ?? null),
    description: body.description ?? template?.dashboard_description ?? '',
    pinned: body.pinned ?? false,
    deleted: body.deleted ?? false,
    filters: body.filters ?? template?.dashboard_filters ?? {},
    tags: normaliseTags([...(template?.tags ?? []), ...(body.tags ?? [])]),
    restriction: body.restriction_level ?? RESTRICTION.everyone,
    createdBy: userId,
    creationMode: 'default',
    useTemplate: '',
    useDashboard: null,
  };
}

async function findSource(tx: Queryable, { projectId }: Caller, id: number): Promise<StoredDashboard> {
  const source = await loadDashboard(tx, projectId, id);
  if (source === undefined || source.deleted) throw invalidInput('Invalid value provided', 'use_dashboard');
  return source;
}

async function addTemplateTiles(
  tx: Queryable,
  { id: dashboardId, projectId }: StoredDashboard,
  tiles: readonly TemplateTile[],
): Promise<void> {
  for (const tile of tiles) {
    const { layouts, color } = tile;
    await saveTile(tx, {
      dashboardId,
      ...(await saveContent(tile)),
      layouts: layouts ?? {},
      color: color ?? null,
    });
  }

  async function saveContent(tile: TemplateTile): Promise<TileContent> {
    if (tile.type === 'TEXT') return { textId: await saveText(tx, tile.body, null), insightId: null };
    const { name, description, filters, query } = tile;
    const { id: insightId } = await saveInsight(tx, projectId, null, {
      name,
      description: description ?? null,
      filters: query ? {} : { filter_test_accounts: true, ...filters },
      query: query ?? null,
      isSample: true,
    });
    return { insightId, textId: null };
  }
}

/**
 * With `deep`, insights and texts of their own; otherwise both dashboards show the same ones, but for texts
 * that the caller may not edit where they are.
 */
async function copyTiles(
  tx: Queryable,
  caller: Caller,
  source: StoredDashboard,
  { id: dashboardId }: StoredDashboard,
  deep: boolean,
): Promise<void> {
  const { privilege } = await openDashboard(tx, caller, source.id);
  const ownTexts = deep || privilege < PRIVILEGE.edit;
  for (const { tile } of await viewTiles(tx, source)) {
    const content = await copyContent(tile);
    if (content === undefined) continue;
    const { layouts, color } = tile;
    await saveTile(tx, { dashboardId, ...content, layouts, color });
  }

  async function copyContent({ insightId, text }: StoredTile): Promise<TileContent | undefined> {
    if (text !== null) {
      return { textId: ownTexts ? await saveText(tx, text.body, caller.userId) : text.id, insightId: null };
    }
    if (insightId === null) return undefined;
    const id = deep ? await copyInsight(tx, caller.projectId, insightId, caller.userId) : insightId;
    return id === undefined ? undefined : { insightId: id, textId: null };
  }
}
