import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Restriction } from '../auth/levels.ts';
import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { type JsonObject, parseJsonObject } from '../http/json.ts';
import type { Page } from '../http/paging.ts';

/** What a dashboard was made from. */
export type CreationMode = 'default' | 'template' | 'duplicate';

/** What may change about a dashboard. */
export interface DashboardFields {
  readonly name: string | null;
  readonly description: string;
  readonly pinned: boolean;
  readonly deleted: boolean;
  readonly filters: JsonObject;
  readonly tags: readonly string[];
  readonly restriction: Restriction;
}

export interface NewDashboard extends DashboardFields {
  readonly projectId: number;
  /** Id of a user; null: nobody in particular. */
  readonly createdBy: number | null;
  readonly creationMode: CreationMode;
  /** Key of the template it was made from, or empty. */
  readonly useTemplate: string;
  /** Id of the dashboard it was made from. */
  readonly useDashboard: number | null;
}

export interface StoredDashboard extends NewDashboard {
  readonly id: number;
  readonly createdAt: string;
  /** Whether the public page is on. */
  readonly isShared: boolean;
}

interface DashboardRow extends Omit<StoredDashboard, 'filters'> {
  /** JSON text. */
  readonly filters: string;
}

const COLUMNS = sql`d.id, d.project_id as "projectId", d.name, d.description, d.pinned, d.deleted,
  d.creation_mode as "creationMode", d.use_template as "useTemplate", d.use_dashboard as "useDashboard",
  d.restriction_level as restriction, d.filters, d.tags, d.created_by as "createdBy",
  d.created_at as "createdAt",
  coalesce((select s.enabled from dashboard_sharing s where s.dashboard_id = d.id), false) as "isShared"`;

const toDashboard = (row: DashboardRow): StoredDashboard => ({
  ...row,
  filters: parseJsonObject(row.filters),
});

export async function saveDashboard(tx: Queryable, wanted: NewDashboard): Promise<StoredDashboard> {
  const [row] = await runSql<DashboardRow>(
    tx,
    sql`insert into dashboards as d (project_id, name, description, pinned, deleted, filters, tags,
        restriction_level, created_by, creation_mode, use_template, use_dashboard)
      values (${wanted.projectId}, ${wanted.name}, ${wanted.description}, ${wanted.pinned},
        ${wanted.deleted}, ${stringifyJson(wanted.filters)}::jsonb, ${wanted.tags}::text[],
        ${wanted.restriction}, ${wanted.createdBy}, ${wanted.creationMode}, ${wanted.useTemplate},
        ${wanted.useDashboard})
      returning ${COLUMNS}`,
  );
  if (row === undefined) throw new Error('insert into dashboards returned no row');
  return toDashboard(row);
}

export async function updateDashboard(tx: Queryable, id: number, fields: DashboardFields): Promise<void> {
  await runSql(
    tx,
    sql`update dashboards set name = ${fields.name}, description = ${fields.description},
        pinned = ${fields.pinned}, deleted = ${fields.deleted},
        filters = ${stringifyJson(fields.filters)}::jsonb, tags = ${fields.tags}::text[],
        restriction_level = ${fields.restriction}
      where id = ${id}`,
  );
}

/** By name, unnamed ones last; deleted ones are never listed. */
export async function loadDashboards(
  db: Queryable,
  projectId: number,
  page: Page,
): Promise<{ count: number; dashboards: StoredDashboard[] }> {
  const listed = sql`from dashboards d where d.project_id = ${projectId} and not d.deleted`;
  const [total] = await runSql<{ count: number }>(db, sql`select count(*) as count ${listed}`);
  const rows = await runSql<DashboardRow>(
    db,
    sql`select ${COLUMNS} ${listed}
      order by d.name, d.id limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, dashboards: rows.map(toDashboard) };
}

/** Deleted ones too. */
export async function loadDashboardsById(
  db: Queryable,
  projectId: number,
  ids: readonly number[],
): Promise<StoredDashboard[]> {
  const rows = await runSql<DashboardRow>(
    db,
    sql`select ${COLUMNS} from dashboards d
      where d.project_id = ${projectId} and d.id = any(${ids}::integer[])`,
  );
  return rows.map(toDashboard);
}

export async function loadDashboard(
  db: Queryable,
  projectId: number,
  id: number,
): Promise<StoredDashboard | undefined> {
  return (await loadDashboardsById(db, projectId, [id]))[0];
}

/**
 * Locks dashboards until the transaction ends, so that of two changes at once none loses what the other
 * wrote. In order of id, so that no two transactions wait for each other.
 */
export async function lockDashboards(
  tx: Queryable,
  projectId: number,
  ids: readonly number[],
): Promise<void> {
  await runSql(
    tx,
    sql`select 1 from dashboards where project_id = ${projectId} and id = any(${ids}::integer[])
      order by id for update`,
  );
}
