import { randomBytes } from 'node:crypto';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { base62 } from '../auth/base62.ts';
import type { Queryable } from '../database/db.ts';
import { allOf, runSql, sql } from '../database/sql.ts';
import { type JsonObject, parseJsonObject } from '../http/json.ts';
import type { Page } from '../http/paging.ts';

export interface NewInsight {
  readonly name: string | null;
  /** @default null */
  readonly derivedName?: string | null;
  /** @default null */
  readonly description?: string | null;
  /** As clients write them; `{}` where there is a `query`. */
  readonly filters: JsonObject;
  /**
   * A newer query object (`InsightVizNode`), which replaces `filters`.
   * @default null
   */
  readonly query?: JsonObject | null;
  /** @default [] */
  readonly tags?: readonly string[];
  /**
   * True for one that a template created.
   * @default false
   */
  readonly isSample?: boolean;
  /**
   * True for one that exists by itself, not only on dashboards.
   * @default false
   */
  readonly saved?: boolean;
}

export interface StoredInsight {
  readonly id: number;
  readonly projectId: number;
  /** Eight characters, as clients put into addresses. */
  readonly shortId: string;
  readonly name: string | null;
  readonly derivedName: string | null;
  readonly description: string | null;
  readonly filters: JsonObject;
  readonly query: JsonObject | null;
  readonly tags: readonly string[];
  readonly saved: boolean;
  readonly favorited: boolean;
  readonly deleted: boolean;
  readonly isSample: boolean;
  /** Of its project: an IANA name. */
  readonly timeZone: string;
  /** ISO 8601, as all times here. */
  readonly createdAt: string;
  /** Id of a user; null for one that a template created. */
  readonly createdBy: number | null;
  readonly updatedAt: string;
  readonly lastModifiedAt: string;
  readonly lastModifiedBy: number | null;
}

interface InsightRow extends Omit<StoredInsight, 'filters' | 'query'> {
  /** JSON text. */
  readonly filters: string;
  readonly query: string | null;
}

const COLUMNS = sql`id, project_id as "projectId", short_id as "shortId", name, derived_name as "derivedName",
  description, filters, query, tags, saved, favorited, deleted, is_sample as "isSample",
  created_at as "createdAt", created_by as "createdBy", updated_at as "updatedAt",
  last_modified_at as "lastModifiedAt", last_modified_by as "lastModifiedBy",
  (select time_zone from projects where projects.id = insights.project_id) as "timeZone"`;

function toInsight(row: InsightRow): StoredInsight {
  const query = row.query === null ? null : parseJsonObject(row.query);
  return { ...row, filters: parseJsonObject(row.filters), query };
}

export async function saveInsight(
  tx: Queryable,
  projectId: number,
  userId: number | null,
  wanted: NewInsight,
): Promise<StoredInsight> {
  const [row] = await runSql<InsightRow>(
    tx,
    sql`insert into insights (project_id, short_id, name, derived_name, description, filters, query, tags, saved,
        is_sample, created_by, last_modified_by)
      values (${projectId}, ${createShortId()}, ${wanted.name}, ${wanted.derivedName ?? null},
         ${wanted.description ?? null}, ${stringifyJson(wanted.filters)}::jsonb,
         ${wanted.query ? stringifyJson(wanted.query) : null}::jsonb, ${wanted.tags ?? []}::text[],
         ${wanted.saved ?? false}, ${wanted.isSample ?? false}, ${userId}::integer, ${userId}::integer)
      returning ${COLUMNS}`,
  );
  if (row === undefined) throw new Error('insert into insights returned no row');
  return toInsight(row);
}

/** Copies an insight as `<name> (Copy)` and returns the id. Undefined when there is no such insight. */
export async function copyInsight(
  tx: Queryable,
  projectId: number,
  insightId: number,
  userId: number | null,
): Promise<number | undefined> {
  const [row] = await runSql<{ id: number }>(
    tx,
    sql`insert into insights (project_id, short_id, name, derived_name, description, filters, query, tags, saved,
        is_sample, created_by, last_modified_by)
      select project_id, ${createShortId()}, left(nullif(name, '') || ' (Copy)', ${MAX_NAME}::integer),
        derived_name, description, filters, query, tags, saved, is_sample, ${userId}::integer, ${userId}::integer
      from insights where project_id = ${projectId} and id = ${insightId}
      returning id`,
  );
  return row?.id;
}

export async function markDeleted(
  tx: Queryable,
  projectId: number,
  insightIds: readonly number[],
  deleted: boolean,
): Promise<void> {
  await runSql(
    tx,
    sql`update insights set deleted = ${deleted}, updated_at = now()
      where project_id = ${projectId} and id = any(${insightIds}::integer[]) and deleted <> ${deleted}`,
  );
}

export async function loadInsights(
  db: Queryable,
  projectId: number,
  insightIds: readonly number[],
): Promise<StoredInsight[]> {
  const rows = await runSql<InsightRow>(
    db,
    sql`select ${COLUMNS} from insights
      where project_id = ${projectId} and id = any(${insightIds}::integer[]) order by id`,
  );
  return rows.map(toInsight);
}

/** The insight, locked until the end of the transaction. */
export async function loadForChange(
  tx: Queryable,
  projectId: number,
  insightId: number,
): Promise<StoredInsight | undefined> {
  const [row] = await runSql<InsightRow>(
    tx,
    sql`select ${COLUMNS} from insights where project_id = ${projectId} and id = ${insightId} for update`,
  );
  return row && toInsight(row);
}

export async function saveChanges(
  tx: Queryable,
  userId: number,
  insight: StoredInsight,
): Promise<StoredInsight> {
  const [row] = await runSql<InsightRow>(
    tx,
    sql`update insights set name = ${insight.name}, derived_name = ${insight.derivedName},
         description = ${insight.description}, filters = ${stringifyJson(insight.filters)}::jsonb,
         query = ${insight.query ? stringifyJson(insight.query) : null}::jsonb,
         tags = ${insight.tags}::text[], saved = ${insight.saved}, favorited = ${insight.favorited},
         deleted = ${insight.deleted}, updated_at = now(),
         last_modified_at = now(), last_modified_by = ${userId}
      where id = ${insight.id} returning ${COLUMNS}`,
  );
  if (row === undefined) throw new Error('update of insights returned no row');
  return toInsight(row);
}

export interface InsightFilter {
  readonly shortId?: string | undefined;
  readonly saved?: boolean | undefined;
  /** Part of a name or description. */
  readonly search?: string | undefined;
}

/** Newest first, without deleted ones. */
export async function loadInsightPage(
  db: Queryable,
  projectId: number,
  { shortId, saved, search }: InsightFilter,
  page: Page,
): Promise<{ count: number; insights: StoredInsight[] }> {
  const filtered = sql`from insights where ${allOf([
    sql`project_id = ${projectId} and not deleted`,
    ...(shortId === undefined ? [] : [sql`short_id = ${shortId}`]),
    ...(saved === undefined ? [] : [sql`saved = ${saved}`]),
    ...(search
      ? [sql`position(lower(${search}::text) in lower(concat_ws(' ', name, derived_name, description))) > 0`]
      : []),
  ])}`;
  const [total] = await runSql<{ count: number }>(db, sql`select count(*) as count ${filtered}`);
  const rows = await runSql<InsightRow>(
    db,
    sql`select ${COLUMNS} ${filtered}
      order by created_at desc, id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, insights: rows.map(toInsight) };
}

export const MAX_NAME = 400;

const SHORT_ID_CHARACTERS = 8;

/** The last characters of a much longer number, so that each is as likely as any other. */
const createShortId = (): string => base62(randomBytes(16)).slice(-SHORT_ID_CHARACTERS);
