import { stringifyJson } from '../../../lib/json/stringify-json.ts';
import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { type JsonObject, parseJsonObject } from '../../http/json.ts';

/** A place on a dashboard, with either an insight or a text in it. */
export interface StoredTile {
  readonly id: number;
  readonly dashboardId: number;
  readonly insightId: number | null;
  readonly text: StoredText | null;
  /** Positions by width of screen (`sm`, `xs`), as clients write them. */
  readonly layouts: JsonObject;
  readonly color: string | null;
  readonly deleted: boolean;
}

export interface StoredText {
  readonly id: number;
  readonly body: string;
  readonly createdBy: number | null;
  readonly lastModifiedBy: number | null;
  readonly lastModifiedAt: string;
}

/** Exactly one of the two. */
export type TileContent =
  | { readonly insightId: number; readonly textId: null }
  | { readonly insightId: null; readonly textId: number };

export type NewTile = TileContent & {
  readonly dashboardId: number;
  readonly layouts: JsonObject;
  readonly color: string | null;
};

/** A tile that shows an insight, or did. */
export interface TilePlace {
  readonly insightId: number;
  readonly id: number;
  readonly dashboardId: number;
  readonly deleted: boolean;
}

interface TileRow {
  readonly id: number;
  readonly dashboardId: number;
  readonly insightId: number | null;
  readonly layouts: string;
  readonly color: string | null;
  readonly deleted: boolean;
  readonly textId: number | null;
  readonly body: string | null;
  readonly createdBy: number | null;
  readonly lastModifiedBy: number | null;
  readonly lastModifiedAt: string | null;
}

/** All tiles of a dashboard in the order they were made, deleted ones too. */
export async function loadTiles(db: Queryable, dashboardId: number): Promise<StoredTile[]> {
  const rows = await runSql<TileRow>(
    db,
    sql`select t.id, t.dashboard_id as "dashboardId", t.insight_id as "insightId",
         t.layouts, t.color, t.deleted, t.text_id as "textId", x.body, x.created_by as "createdBy",
        x.last_modified_by as "lastModifiedBy", x.last_modified_at as "lastModifiedAt"
      from dashboard_tiles t left join dashboard_texts x on x.id = t.text_id
      where t.dashboard_id = ${dashboardId} order by t.id`,
  );
  return rows.map(({ id, insightId, layouts, color, deleted, ...row }) => ({
    id,
    dashboardId: row.dashboardId,
    insightId,
    text: toText(row),
    layouts: parseJsonObject(layouts),
    color,
    deleted,
  }));
}

function toText(row: Pick<TileRow, 'textId' | 'body' | 'createdBy' | 'lastModifiedBy' | 'lastModifiedAt'>) {
  const { textId, body, createdBy, lastModifiedBy, lastModifiedAt } = row;
  if (textId === null || body === null || lastModifiedAt === null) return null;
  return { id: textId, body, createdBy, lastModifiedBy, lastModifiedAt };
}

export async function saveTile(tx: Queryable, tile: NewTile): Promise<number> {
  const [row] = await runSql<{ id: number }>(
    tx,
    sql`insert into dashboard_tiles (dashboard_id, insight_id, text_id, layouts, color)
      values (${tile.dashboardId}, ${tile.insightId}, ${tile.textId},
         ${stringifyJson(tile.layouts)}::jsonb, ${tile.color})
       returning id`,
  );
  return requireId(row, 'dashboard_tiles');
}

/** Updates layouts, colour and whether it is deleted. */
export async function updateTile(
  tx: Queryable,
  tile: Pick<StoredTile, 'id' | 'layouts' | 'color' | 'deleted'>,
): Promise<void> {
  await runSql(
    tx,
    sql`update dashboard_tiles set layouts = ${stringifyJson(tile.layouts)}::jsonb, color = ${tile.color},
        deleted = ${tile.deleted}
      where id = ${tile.id}`,
  );
}

export async function markAllDeleted(tx: Queryable, dashboardId: number): Promise<void> {
  await runSql(tx, sql`update dashboard_tiles set deleted = true where dashboard_id = ${dashboardId}`);
}

/** Brings tiles back, the newest `most` of them. */
export async function restoreTiles(tx: Queryable, dashboardId: number, most: number): Promise<void> {
  await runSql(
    tx,
    sql`update dashboard_tiles set deleted = false where id in (
      select id from dashboard_tiles where dashboard_id = ${dashboardId} order by id desc limit ${most})`,
  );
}

/** Takes the place of a deleted tile that shows the same, if there is one. */
export async function saveMove(tx: Queryable, tile: StoredTile, dashboardId: number): Promise<void> {
  await runSql(
    tx,
    sql`delete from dashboard_tiles where dashboard_id = ${dashboardId} and deleted
      and (insight_id = ${tile.insightId} or text_id = ${tile.text?.id ?? null})`,
  );
  await runSql(tx, sql`update dashboard_tiles set dashboard_id = ${dashboardId} where id = ${tile.id}`);
}

export async function saveText(tx: Queryable, body: string, userId: number | null): Promise<number> {
  const [row] = await runSql<{ id: number }>(
    tx,
    sql`insert into dashboard_texts (body, created_by, last_modified_by)
      values (${body}, ${userId}::integer, ${userId}::integer) returning id`,
  );
  return requireId(row, 'dashboard_texts');
}

/** Whether a tile of another dashboard shows this text too. */
export async function isSharedText(tx: Queryable, id: number, dashboardId: number): Promise<boolean> {
  const [row] = await runSql<{ shared: boolean }>(
    tx,
    sql`select exists (
        select from dashboard_tiles where text_id = ${id} and dashboard_id <> ${dashboardId}
      ) as shared`,
  );
  return row?.shared === true;
}

/** Gives a tile a text of its own. */
export async function replaceText(tx: Queryable, tileId: number, textId: number): Promise<void> {
  await runSql(tx, sql`update dashboard_tiles set text_id = ${textId} where id = ${tileId}`);
}

export async function updateText(tx: Queryable, id: number, body: string, userId: number): Promise<void> {
  await runSql(
    tx,
    sql`update dashboard_texts set body = ${body}, last_modified_by = ${userId},
         last_modified_at = clock_timestamp()
      where id = ${id} and body <> ${body}`,
  );
}

/** Every tile, on any dashboard, of these insights. */
export async function loadPlaces(db: Queryable, insightIds: readonly number[]): Promise<TilePlace[]> {
  return runSql<TilePlace>(
    db,
    sql`select insight_id as "insightId", id, dashboard_id as "dashboardId", deleted
      from dashboard_tiles where insight_id = any(${insightIds}::integer[]) order by id`,
  );
}

function requireId(row: { readonly id: number } | undefined, table: string): number {
  if (row === undefined) throw new Error(`insert into ${table} returned no row`);
  return row.id;
}
