import type { Caller } from '../auth/access.ts';
import type { Queryable } from '../database/db.ts';
import { permissionDenied } from '../http/errors.ts';
import { normaliseTags } from '../http/tags.ts';
import { markDeleted } from '../insights/store.ts';
import { checkReferences } from '../query/definitions/check-references.ts';
import { type Change, changesBetween, recordChange } from './activity.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { filterEditable } from './insights/levels.ts';
import { loadInsightPlaces, lockInsightPlaces } from './insights/places.ts';
import { lockForEditing } from './open-dashboard.ts';
import { mayRestrict } from './permission.ts';
import type { ChangeBody } from './schema.ts';
import { type DashboardFields, type StoredDashboard, updateDashboard } from './store.ts';
import { MAX_TILES } from './tiles/schema.ts';
import { loadTiles, markAllDeleted, restoreTiles, type StoredTile } from './tiles/store.ts';
import { writeTiles } from './tiles/write-tiles.ts';

/**
 * One PATCH, as a whole or not at all, and one after another for each dashboard. `restoring`: the dashboard
 * may be a deleted one, which this restores.
 */
export async function changeDashboard(
  { db }: Pick<DashboardDeps, 'db'>,
  caller: Caller,
  id: number,
  body: ChangeBody,
  restoring: boolean,
): Promise<void> {
  await db.transaction(async (tx) => {
    // Deleting and restoring depend on the permissions of the other dashboards of its insights.
    if (body.deleted !== undefined)
      await lockInsightPlaces(tx, caller.projectId, await loadEveryInsight(tx, id));
    const before = await lockForEditing(tx, caller, id, { deletedToo: restoring });
    await checkReferences(tx, caller.projectId, body.filters, 'filters');
    const after = merge(before, body);
    if (after.restriction !== before.restriction && !mayRestrict(before, caller)) {
      throw permissionDenied(
        "Only the dashboard owner and project admins have the restriction rights required to change the dashboard's restriction level.",
      );
    }
    await updateDashboard(tx, id, after);
    const changes = changesBetween(before, { ...before, ...after });
    if (body.tiles?.length) changes.push(await changeTiles(body.tiles));
    if (after.deleted && !before.deleted) {
      await deleteTiles(tx, caller, id, body.delete_insights ?? false);
    }
    if (!after.deleted && before.deleted) await restore(tx, caller, id);
    if (changes.length > 0) {
      await recordChange(tx, caller, { id, name: after.name }, nameActivity(before, after), changes);
    }

    async function changeTiles(items: NonNullable<ChangeBody['tiles']>): Promise<Change> {
      const tilesBefore = await loadShownTiles(tx, id);
      await writeTiles(tx, before, caller.userId, items);
      return { field: 'tiles', before: tilesBefore, after: await loadShownTiles(tx, id) };
    }
  });
}

function merge(before: StoredDashboard, body: ChangeBody): DashboardFields {
  return {
    name: body.name === undefined ? before.name : body.name,
    description: body.description ?? before.description,
    pinned: body.pinned ?? before.pinned,
    deleted: body.deleted ?? before.deleted,
    filters: body.filters ?? before.filters,
    tags: body.tags === undefined ? before.tags : normaliseTags(body.tags),
    restriction: body.restriction_level ?? before.restriction,
  };
}

const nameActivity = (before: DashboardFields, after: DashboardFields) =>
  before.deleted === after.deleted ? 'updated' : after.deleted ? 'deleted' : 'restored';

/**
 * Removes the tiles. With `deleteInsights` it also deletes the insights that no other dashboard shows and
 * that the caller may edit.
 */
async function deleteTiles(
  tx: Queryable,
  caller: Caller,
  id: number,
  deleteInsights: boolean,
): Promise<void> {
  if (deleteInsights) {
    const here = await loadShownInsights(tx, id);
    const places = await loadInsightPlaces(tx, caller, here);
    const elsewhere = new Set(
      places.flatMap((place) => (place.deleted || place.dashboardId === id ? [] : [place.insightId])),
    );
    const alone = here.filter((insightId) => !elsewhere.has(insightId));
    await markDeleted(tx, caller.projectId, filterEditable(alone, places), true);
  }
  await markAllDeleted(tx, id);
}

/**
 * Restores every tile, as the service does, including those removed before the dashboard was deleted. An
 * insight that the caller may not edit because of another dashboard stays deleted: it would reappear there.
 */
async function restore(tx: Queryable, caller: Caller, id: number): Promise<void> {
  await restoreTiles(tx, id, MAX_TILES);
  const here = await loadShownInsights(tx, id);
  const places = await loadInsightPlaces(tx, caller, here);
  await markDeleted(tx, caller.projectId, filterEditable(here, places), false);
}

async function loadShownInsights(tx: Queryable, id: number): Promise<number[]> {
  return listInsightIds((await loadTiles(tx, id)).filter(({ deleted }) => !deleted));
}

const loadEveryInsight = async (tx: Queryable, id: number) => listInsightIds(await loadTiles(tx, id));

const listInsightIds = (tiles: readonly StoredTile[]) =>
  tiles.flatMap(({ insightId }) => (insightId === null ? [] : [insightId]));

async function loadShownTiles(tx: Queryable, id: number): Promise<number[]> {
  return (await loadTiles(tx, id)).filter(({ deleted }) => !deleted).map((tile) => tile.id);
}
