import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Queryable } from '../database/db.ts';
import { joinSql, runSql, type Sql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';

export interface StoredFlag {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  readonly active: boolean;
  readonly deleted: boolean;
  readonly keepsValue: boolean;
  /** JSON text. */
  readonly filters: string;
  readonly version: number;
  readonly createdBy: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const COLUMNS = sql`id, key, name, active, deleted, keeps_value as "keepsValue", filters, version,
  created_by as "createdBy", created_at as "createdAt", updated_at as "updatedAt"`;

/** Those that are not deleted, oldest first. */
export function loadFlags(db: Queryable, projectId: number): Promise<StoredFlag[]> {
  return runSql(
    db,
    sql`select ${COLUMNS} from feature_flags where project_id = ${projectId}::integer and not deleted order by id`,
  );
}

/** Newest first, without the deleted ones. */
export function loadFlagPage(db: Queryable, projectId: number, page: Page): Promise<StoredFlag[]> {
  return runSql(
    db,
    sql`select ${COLUMNS} from feature_flags where project_id = ${projectId}::integer and not deleted
      order by id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
}

export async function countFlags(db: Queryable, projectId: number): Promise<number> {
  const [row] = await runSql<{ count: number }>(
    db,
    sql`select count(*) as count from feature_flags where project_id = ${projectId}::integer and not deleted`,
  );
  return row?.count ?? 0;
}

/** A deleted one too. */
export async function loadFlagById(
  db: Queryable,
  projectId: number,
  id: number,
): Promise<StoredFlag | undefined> {
  const [flag] = await runSql<StoredFlag>(
    db,
    sql`select ${COLUMNS} from feature_flags
      where project_id = ${projectId}::integer and id = ${id}::integer`,
  );
  return flag;
}

export async function loadFlagByKey(
  db: Queryable,
  projectId: number,
  key: string,
): Promise<StoredFlag | undefined> {
  const [flag] = await runSql<StoredFlag>(
    db,
    sql`select ${COLUMNS} from feature_flags
      where project_id = ${projectId}::integer and key = ${key}::text and not deleted`,
  );
  return flag;
}

export interface FlagToSave {
  readonly key: string;
  readonly name: string;
  readonly active: boolean;
  readonly keepsValue: boolean;
  readonly filters: object;
}

export async function insertFlag(
  tx: Queryable,
  projectId: number,
  userId: number | null,
  { key, name, active, keepsValue, filters }: FlagToSave,
): Promise<number> {
  const [row] = await runSql<{ id: number }>(
    tx,
    sql`insert into feature_flags (project_id, created_by, key, name, active, keeps_value, filters)
      values (${projectId}::integer, ${userId}::integer, ${key}, ${name}, ${active}, ${keepsValue},
        ${stringifyJson(filters)}::jsonb)
      returning id`,
  );
  if (row === undefined) throw new Error('insert into feature_flags returned no row');
  return row.id;
}

export type FlagChanges = { readonly [K in keyof FlagToSave]?: FlagToSave[K] | undefined } & {
  readonly deleted?: boolean | undefined;
};

/** Omitted fields stay as they are. */
export async function updateFlag(tx: Queryable, id: number, changes: FlagChanges): Promise<void> {
  const { key, name, active, deleted, keepsValue, filters } = changes;
  const columns: Sql[] = [sql`version = version + 1`, sql`updated_at = default`];
  if (key !== undefined) columns.push(sql`key = ${key}`);
  if (name !== undefined) columns.push(sql`name = ${name}`);
  if (active !== undefined) columns.push(sql`active = ${active}`);
  if (deleted !== undefined) columns.push(sql`deleted = ${deleted}`);
  if (keepsValue !== undefined) columns.push(sql`keeps_value = ${keepsValue}`);
  if (filters !== undefined) columns.push(sql`filters = ${stringifyJson(filters)}::jsonb`);
  await runSql(tx, sql`update feature_flags set ${joinSql(columns, ', ')} where id = ${id}::integer`);
}
