import type { Caller } from '../../auth/access.ts';
import type { Queryable } from '../../database/db.ts';
import { type ApiError, invalidInput, notFound } from '../../http/errors.ts';
import { normaliseTags } from '../../http/tags.ts';
import { loadInsights, type NewInsight, saveInsight } from '../../insights/store.ts';
import { checkReferences } from '../../query/definitions/check-references.ts';
import { recordChange } from '../activity.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import { openForEditing } from '../open-dashboard.ts';
import { lockDashboards, type StoredDashboard } from '../store.ts';
import { type InsightItem, MAX_TILES, type TileItem } from './schema.ts';
import {
  isSharedText,
  loadTiles,
  replaceText,
  type StoredTile,
  saveMove,
  saveText,
  saveTile,
  type TileContent,
  updateText,
  updateTile,
} from './store.ts';

/** What of a tile decides which item means it. */
type KnownTile = Pick<StoredTile, 'id' | 'insightId' | 'layouts' | 'color' | 'deleted'> & {
  readonly textId: number | null;
};

/**
 * Changes the tiles of a dashboard that is locked. An item means a tile that is there by its `id`, or by the
 * id of its text or insight; any other makes a tile. Texts of other dashboards stay out of reach.
 */
export async function writeTiles(
  tx: Queryable,
  dashboard: StoredDashboard,
  userId: number,
  items: readonly TileItem[],
): Promise<void> {
  const tiles = new Map<number, KnownTile>();
  for (const tile of await loadTiles(tx, dashboard.id)) {
    tiles.set(tile.id, { ...tile, textId: tile.text?.id ?? null });
  }
  const { projectId } = dashboard;
  const placeable = await findPlaceable(tx, projectId, items);
  for (const [index, item] of items.entries()) {
    const known = findTile([...tiles.values()], item, index);
    if (known === undefined && item.deleted === true) continue;
    const tile = known
      ? await changeTile(tx, dashboard.id, known, item, userId)
      : await addTile(tx, dashboard.id, await saveContent(item, index), item);
    tiles.set(tile.id, tile);
  }
  checkTileCount([...tiles.values()]);

  async function saveContent({ text, insight }: TileItem, index: number): Promise<TileContent> {
    if (text) return { textId: await saveText(tx, text.body, userId), insightId: null };
    if (!insight) throw invalidInput('A new tile needs a text or an insight.', `tiles__${index}`);
    if (insight.id == null) {
      const wanted = toNewInsight(insight, index);
      await checkReferences(tx, projectId, [wanted.filters, wanted.query], `tiles__${index}__insight`);
      const saved = await saveInsight(tx, projectId, userId, wanted);
      return { insightId: saved.id, textId: null };
    }
    if (!placeable.has(insight.id)) throw noSuch(index, 'insight__id');
    return { insightId: insight.id, textId: null };
  }
}

/** Counts tiles that are there, whatever may have been taken off. */
function checkTileCount(tiles: readonly Pick<StoredTile, 'deleted'>[]): void {
  if (tiles.filter(({ deleted }) => !deleted).length > MAX_TILES) {
    throw invalidInput(`A dashboard holds at most ${MAX_TILES} tiles.`, 'tiles');
  }
}

function toNewInsight(
  { name, description, filters, query, tags = [] }: InsightItem,
  index: number,
): NewInsight {
  if (!filters && !query) {
    throw invalidInput('An insight needs filters or a query.', `tiles__${index}__insight`);
  }
  return {
    name: name ?? null,
    description: description ?? null,
    filters: query ? {} : (filters ?? {}),
    query: query ?? null,
    tags: normaliseTags(tags),
  };
}

/** Those insights of the items that a tile may show. */
async function findPlaceable(
  tx: Queryable,
  projectId: number,
  items: readonly TileItem[],
): Promise<Set<number>> {
  const wanted = items.flatMap(({ insight }) => (insight?.id == null ? [] : [insight.id]));
  if (wanted.length === 0) return new Set();
  const found = await loadInsights(tx, projectId, wanted);
  return new Set(found.filter(({ deleted }) => !deleted).map(({ id }) => id));
}

/** Undefined where the item makes a tile. */
function findTile(tiles: readonly KnownTile[], item: TileItem, index: number): KnownTile | undefined {
  const { id, text, insight } = item;
  if (id != null) {
    const tile = tiles.find((known) => known.id === id) ?? fail(noSuch(index, 'id'));
    if (text && (tile.textId === null || (text.id ?? tile.textId) !== tile.textId)) {
      throw noSuch(index, 'text__id');
    }
    return tile;
  }
  if (text?.id != null) {
    return tiles.find(({ textId }) => textId === text.id) ?? fail(noSuch(index, 'text__id'));
  }
  return insight?.id == null ? undefined : tiles.find(({ insightId }) => insightId === insight.id);
}

async function changeTile(
  tx: Queryable,
  dashboardId: number,
  tile: KnownTile,
  { id, text, ...item }: TileItem,
  userId: number,
): Promise<KnownTile> {
  const changed = {
    ...tile,
    layouts: item.layouts ?? tile.layouts,
    color: item.color === undefined ? tile.color : item.color,
    // A text or an insight that is named without its tile is to be there, should it have been taken off.
    deleted: item.deleted ?? (id == null ? false : tile.deleted),
  };
  await updateTile(tx, changed);
  if (!text || tile.textId === null) return changed;
  // A copied dashboard shows the same text until one of the two changes it: whoever may edit the copy may
  // not be allowed to edit the other.
  if (!(await isSharedText(tx, tile.textId, dashboardId))) {
    await updateText(tx, tile.textId, text.body, userId);
    return changed;
  }
  const textId = await saveText(tx, text.body, userId);
  await replaceText(tx, tile.id, textId);
  return { ...changed, textId };
}

async function addTile(
  tx: Queryable,
  dashboardId: number,
  content: TileContent,
  { layouts = {}, color = null }: TileItem,
): Promise<KnownTile> {
  const id = await saveTile(tx, { dashboardId, ...content, layouts, color });
  return { id, ...content, layouts, color, deleted: false };
}

const noSuch = (index: number, path: string) =>
  invalidInput('Invalid value provided', `tiles__${index}__${path}`);

function fail(error: ApiError): never {
  throw error;
}

/** Takes a tile from one dashboard to another of the project, with its layouts. */
export async function moveTile(
  { db }: DashboardDeps,
  caller: Caller,
  { tileId, from, to }: { readonly tileId: number; readonly from: number; readonly to: number },
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockDashboards(tx, caller.projectId, [from, to]);
    const source = await openForEditing(tx, caller, from);
    const target = await openForEditing(tx, caller, to, { missing: 'Dashboard not found.' });
    const tile = (await loadTiles(tx, from)).find(({ id, deleted }) => id === tileId && !deleted);
    if (tile === undefined) throw notFound();
    if (from === to) return;
    const there = await loadTiles(tx, to);
    const shown = there.find((other) =>
      tile.text ? other.text?.id === tile.text.id : other.insightId === tile.insightId,
    );
    if (shown && !shown.deleted) {
      throw invalidInput('The dashboard shows this already.', 'toDashboard');
    }
    checkTileCount([...there, tile]);
    await saveMove(tx, tile, to);
    await recordChange(tx, caller, source, 'updated', [{ field: 'tiles', before: tileId, after: null }]);
    await recordChange(tx, caller, target, 'updated', [{ field: 'tiles', before: null, after: tileId }]);
  });
}
