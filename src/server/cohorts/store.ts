import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Queryable } from '../database/db.ts';
import { joinSql, runSql, type Sql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';
import type { ParsedDefinition } from './parse-definition.ts';

export interface StoredCohort {
  readonly id: number;
  readonly name: string | null;
  readonly description: string;
  readonly isStatic: boolean;
  /** JSON text, as `filters` is. */
  readonly groups: string;
  readonly filters: string;
  readonly deleted: boolean;
  readonly createdBy: number | null;
  readonly createdAt: string;
  readonly count: number | null;
  readonly lastCalculation: string | null;
  readonly errorsCalculating: number;
}

const COLUMNS = sql`id, name, description, is_static as "isStatic", groups, filters, deleted,
  created_by as "createdBy", created_at as "createdAt", count, last_calculation as "lastCalculation",
  errors_calculating as "errorsCalculating"`;

/** Newest first, without the deleted ones. */
export function loadCohortPage(db: Queryable, projectId: number, page: Page): Promise<StoredCohort[]> {
  return runSql(
    db,
    sql`select ${COLUMNS} from cohorts where project_id = ${projectId}::integer and not deleted
      order by id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
}

export async function countCohorts(db: Queryable, projectId: number): Promise<number> {
  const [row] = await runSql<{ count: number }>(
    db,
    sql`select count(*) as count from cohorts where project_id = ${projectId}::integer and not deleted`,
  );
  return row?.count ?? 0;
}

/** In the order of their ids, deleted ones included, without those that do not exist. */
export function loadCohortsById(
  db: Queryable,
  projectId: number,
  ids: readonly number[],
): Promise<StoredCohort[]> {
  return runSql(
    db,
    sql`select ${COLUMNS} from cohorts
      where project_id = ${projectId}::integer and id = any(${ids}::integer[]) order by id`,
  );
}

/** The one of that name, deleted ones left aside; the oldest where there are several. */
export async function loadCohortByName(
  db: Queryable,
  projectId: number,
  name: string,
): Promise<StoredCohort | undefined> {
  const [cohort] = await runSql<StoredCohort>(
    db,
    sql`select ${COLUMNS} from cohorts where project_id = ${projectId}::integer and name = ${name}::text
      and not deleted order by id limit 1`,
  );
  return cohort;
}

export interface CohortToSave {
  readonly name: string | null;
  readonly description: string;
  readonly isStatic: boolean;
  /** Undefined for a static one. */
  readonly definition: ParsedDefinition | undefined;
}

export async function insertCohort(
  tx: Queryable,
  projectId: number,
  userId: number | null,
  { name, description, isStatic, definition }: CohortToSave,
): Promise<number> {
  const [row] = await runSql<{ id: number }>(
    tx,
    sql`insert into cohorts (project_id, created_by, name, description, is_static, groups, filters)
      values (${projectId}, ${userId}, ${name}, ${description}, ${isStatic},
        ${stringifyJson(definition?.groups ?? [])}::jsonb, ${stringifyJson(definition?.filters ?? {})}::jsonb)
      returning id`,
  );
  if (row === undefined) throw new Error('insert into cohorts returned no row');
  return row.id;
}

export interface CohortChanges {
  readonly name?: string | null | undefined;
  readonly description?: string | undefined;
  readonly deleted?: boolean | undefined;
  readonly definition?: ParsedDefinition | undefined;
}

/** Omitted fields stay as they are. A new definition clears the count. */
export async function updateCohort(tx: Queryable, id: number, changes: CohortChanges): Promise<void> {
  const { name, description, deleted, definition } = changes;
  const columns: Sql[] = [];
  if (name !== undefined) columns.push(sql`name = ${name}`);
  if (description !== undefined) columns.push(sql`description = ${description}`);
  if (deleted !== undefined) columns.push(sql`deleted = ${deleted}`);
  if (definition !== undefined) {
    columns.push(
      sql`groups = ${stringifyJson(definition.groups)}::jsonb`,
      sql`filters = ${stringifyJson(definition.filters)}::jsonb`,
      sql`count = null`,
      sql`last_calculation = null`,
      sql`errors_calculating = 0`,
    );
  }
  if (columns.length === 0) return;
  await runSql(tx, sql`update cohorts set ${joinSql(columns, ', ')} where id = ${id}::integer`);
}
