import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Queryable } from '../database/db.ts';
import { joinSql, runSql, type Sql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';

export interface StoredAction {
  readonly id: number;
  readonly name: string | null;
  readonly description: string;
  readonly tags: readonly string[];
  /** JSON text. */
  readonly steps: string;
  readonly deleted: boolean;
  readonly createdBy: number | null;
  readonly createdAt: string;
}

const COLUMNS = sql`id, name, description, tags, steps, deleted, created_by as "createdBy",
  created_at as "createdAt"`;

/** Newest first, without the deleted ones. */
export function loadActionPage(db: Queryable, projectId: number, page: Page): Promise<StoredAction[]> {
  return runSql(
    db,
    sql`select ${COLUMNS} from actions where project_id = ${projectId}::integer and not deleted
      order by id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
}

export async function countActions(db: Queryable, projectId: number): Promise<number> {
  const [row] = await runSql<{ count: number }>(
    db,
    sql`select count(*) as count from actions where project_id = ${projectId}::integer and not deleted`,
  );
  return row?.count ?? 0;
}

/** A deleted one included. */
export async function loadAction(
  db: Queryable,
  projectId: number,
  id: number,
): Promise<StoredAction | undefined> {
  const [action] = await runSql<StoredAction>(
    db,
    sql`select ${COLUMNS} from actions where project_id = ${projectId}::integer and id = ${id}::integer`,
  );
  return action;
}

export interface ActionToSave {
  readonly name: string | null;
  readonly description: string;
  readonly tags: readonly string[];
  readonly steps: readonly unknown[];
}

export async function insertAction(
  tx: Queryable,
  projectId: number,
  userId: number,
  { name, description, tags, steps }: ActionToSave,
): Promise<number> {
  const [row] = await runSql<{ id: number }>(
    tx,
    sql`insert into actions (project_id, created_by, name, description, tags, steps)
      values (${projectId}, ${userId}, ${name}, ${description}, ${tags}::text[], ${stringifyJson(steps)}::jsonb)
      returning id`,
  );
  if (row === undefined) throw new Error('insert into actions returned no row');
  return row.id;
}

export type ActionChanges = { readonly [K in keyof ActionToSave]?: ActionToSave[K] | undefined } & {
  readonly deleted?: boolean | undefined;
};

/** Omitted fields stay as they are. */
export async function updateAction(tx: Queryable, id: number, changes: ActionChanges): Promise<void> {
  const { name, description, tags, steps, deleted } = changes;
  const columns: Sql[] = [];
  if (name !== undefined) columns.push(sql`name = ${name}`);
  if (description !== undefined) columns.push(sql`description = ${description}`);
  if (tags !== undefined) columns.push(sql`tags = ${tags}::text[]`);
  if (steps !== undefined) columns.push(sql`steps = ${stringifyJson(steps)}::jsonb`);
  if (deleted !== undefined) columns.push(sql`deleted = ${deleted}`);
  if (columns.length === 0) return;
  await runSql(tx, sql`update actions set ${joinSql(columns, ', ')} where id = ${id}::integer`);
}
