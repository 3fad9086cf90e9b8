import type { Asker } from '../asker.ts';
import type { Queryable } from '../database/db.ts';
import { permissionDenied } from '../errors.ts';
import { editableOf } from '../insight-levels.ts';
import type { Insights } from '../insight-port.ts';
import { normaliseTags } from '../tags.ts';
import { type Change, changesBetween, recordChange } from './activity.ts';
import type { DashboardDeps } from './dashboard-deps.ts';
import { loadInsightPlaces, lockInsightPlaces } from './insight-places.ts';
import { lockForEditing } from './open-dashboard.ts';
import { mayRestrict } from './permission.ts';
import type { ChangeBody } from './schema.ts';
import { type DashboardFields, type StoredDashboard, updateDashboard } from './store.ts';
import { MAX_TILES } from './tile-schema.ts';
import { loadTiles, markAllDeleted, restoreTiles, type StoredTile } from './tile-store.ts';
import { writeTiles } from './write-tiles.ts';

/**
 * One PATCH, as a whole or not at all, and one after another for each dashboard. `restoring`: the dashboard
 * may be a deleted one, which this brings back.
 */
export async function changeDashboard(
  { db, insights }: DashboardDeps,
  asker: Asker,
  id: number,
  body: ChangeBody,
  restoring: boolean,
): Promise<void> {
  await db.transaction(async (tx) => {
    // Deleting and restoring go by what the other dashboards of its insights allow.
    if (body.deleted !== undefined) await lockInsightPlaces(tx, asker.projectId, await everyInsight(tx, id));
    const before = await lockForEditing(tx, asker, id, { deletedToo: restoring });
    const after = merge(before, body);
    if (after.restriction !== before.restriction && !mayRestrict(before, asker)) {
      throw permissionDenied(
        "Only the dashboard owner and project admins have the restriction rights required to change the dashboard's restriction level.",
      );
    }
    await updateDashboard(tx, id, after);
    const changes = changesBetween(before, { ...before, ...after });
    if (body.tiles?.length) changes.push(await changeTiles(body.tiles));
    if (after.deleted && !before.deleted) {
      await takeAway(tx, insights, asker, id, body.delete_insights ?? false);
    }
    if (!after.deleted && before.deleted) await bringBack(tx, insights, asker, id);
    if (changes.length > 0) {
      await recordChange(tx, asker, { id, name: after.name }, activityOf(before, after), changes);
    }

    async function changeTiles(items: NonNullable<ChangeBody['tiles']>): Promise<Change> {
      const tilesBefore = await liveTiles(tx, id);
      await writeTiles(tx, insights, before, asker.userId, items);
      return { field: 'tiles', before: tilesBefore, after: await liveTiles(tx, id) };
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

const activityOf = (before: DashboardFields, after: DashboardFields) =>
  before.deleted === after.deleted ? 'updated' : after.deleted ? 'deleted' : 'restored';

/**
 * Takes the tiles off, and with `deleteInsights` deletes what stands on no other dashboard, and what none
 * keeps the asker from changing.
 */
async function takeAway(
  tx: Queryable,
  insights: Insights,
  asker: Asker,
  id: number,
  deleteInsights: boolean,
): Promise<void> {
  if (deleteInsights) {
    const here = await shownInsights(tx, id);
    const places = await loadInsightPlaces(tx, asker, here);
    const elsewhere = new Set(
      places.flatMap((place) => (place.deleted || place.dashboardId === id ? [] : [place.insightId])),
    );
    const alone = here.filter((insightId) => !elsewhere.has(insightId));
    await insights.setDeleted(tx, asker.projectId, editableOf(alone, places), true);
  }
  await markAllDeleted(tx, id);
}

/**
 * The service brings every tile back, those too that were taken off before the dashboard was deleted. An
 * insight that another dashboard keeps the asker from changing stays deleted: it would come back there, too.
 */
async function bringBack(tx: Queryable, insights: Insights, asker: Asker, id: number): Promise<void> {
  await restoreTiles(tx, id, MAX_TILES);
  const here = await shownInsights(tx, id);
  const places = await loadInsightPlaces(tx, asker, here);
  await insights.setDeleted(tx, asker.projectId, editableOf(here, places), false);
}

async function shownInsights(tx: Queryable, id: number): Promise<number[]> {
  return insightsOf((await loadTiles(tx, id)).filter(({ deleted }) => !deleted));
}

const everyInsight = async (tx: Queryable, id: number) => insightsOf(await loadTiles(tx, id));

const insightsOf = (tiles: readonly StoredTile[]) =>
  tiles.flatMap(({ insightId }) => (insightId === null ? [] : [insightId]));

async function liveTiles(tx: Queryable, id: number): Promise<number[]> {
  return (await loadTiles(tx, id)).filter(({ deleted }) => !deleted).map((tile) => tile.id);
}
