import type { Caller } from '../../auth/access.ts';
import { invalidInput, notFound } from '../../http/errors.ts';
import { recordChange } from '../activity.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import { openForEditing } from '../open-dashboard.ts';
import { lockDashboards } from '../store.ts';
import { loadTiles, moveTile as storeMove } from './store.ts';
import { checkTileCount } from './write-tiles.ts';

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
    await storeMove(tx, tile, to);
    await recordChange(tx, caller, source, 'updated', [{ field: 'tiles', before: tileId, after: null }]);
    await recordChange(tx, caller, target, 'updated', [{ field: 'tiles', before: null, after: tileId }]);
  });
}
