import { randomBytes } from 'node:crypto';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { base62 } from '../auth/base62.ts';
import type { Queryable } from '../database/db.ts';
import { parseJsonObject } from '../http/json.ts';
import type { Page } from '../http/paging.ts';
import type { NewInsight, StoredInsight } from './insight-port.ts';

interface InsightRow extends Omit<StoredInsight, 'filters' | 'query'> {
  /** JSON text. */
  readonly filters: string;
  readonly query: string | null;
}

const COLUMNS = `id, project_id as "projectId", short_id as "shortId", name, derived_name as "derivedName",
  description, filters, query, tags, saved, favorited, deleted, is_sample as "isSample",
  created_at as "createdAt", created_by as "createdBy", updated_at as "updatedAt",
  last_modified_at as "lastModifiedAt", last_modified_by as "lastModifiedBy"`;

export function toInsight(row: InsightRow): StoredInsight {
  const query = row.query === null ? null : parseJsonObject(row.query);
  return { ...row, filters: parseJsonObject(row.filters), query };
}

export async function saveInsight(
  tx: Queryable,
  projectId: number,
  userId: number | null,
  wanted: NewInsight,
): Promise<StoredInsight> {
  const [row] = await tx.query<InsightRow>(
    `insert into insights (project_id, short_id, name, derived_name, description, filters, query, tags, saved,
       is_sample, created_by, last_modified_by)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::text[], $9, $10, $11::integer, $11::integer)
     returning ${COLUMNS}`,
    [
      projectId,
      createShortId(),
      wanted.name,
      wanted.derivedName ?? null,
      wanted.description ?? null,
      stringifyJson(wanted.filters),
      wanted.query ? stringifyJson(wanted.query) : null,
      wanted.tags ?? [],
      wanted.saved ?? false,
      wanted.isSample ?? false,
      userId,
    ],
  );
  if (row === undefined) throw new Error('insert into insights returned no row');
  return toInsight(row);
}

/** The copy's id; its name says that it is one. */
export async function copyInsight(
  tx: Queryable,
  projectId: number,
  insightId: number,
  userId: number | null,
): Promise<number | undefined> {
  const [row] = await tx.query<{ id: number }>(
    `insert into insights (project_id, short_id, name, derived_name, description, filters, query, tags, saved,
       is_sample, created_by, last_modified_by)
     select project_id, $3, left(nullif(name, '') || ' (Copy)', ${MAX_NAME}), derived_name, description, filters, query, tags,
       saved, is_sample, $4::integer, $4::integer
     from insights where project_id = $1 and id = $2
     returning id`,
    [projectId, insightId, createShortId(), userId],
  );
  return row?.id;
}

export async function markDeleted(
  tx: Queryable,
  projectId: number,
  insightIds: readonly number[],
  deleted: boolean,
): Promise<void> {
  await tx.query(
    `update insights set deleted = $3, updated_at = now()
     where project_id = $1 and id = any($2::integer[]) and deleted <> $3`,
    [projectId, insightIds, deleted],
  );
}

export async function loadInsights(
  db: Queryable,
  projectId: number,
  insightIds: readonly number[],
): Promise<StoredInsight[]> {
  const rows = await db.query<InsightRow>(
    `select ${COLUMNS} from insights where project_id = $1 and id = any($2::integer[]) order by id`,
    [projectId, insightIds],
  );
  return rows.map(toInsight);
}

/** The insight, locked until the end of the transaction. */
export async function loadForChange(
  tx: Queryable,
  projectId: number,
  insightId: number,
): Promise<StoredInsight | undefined> {
  const [row] = await tx.query<InsightRow>(
    `select ${COLUMNS} from insights where project_id = $1 and id = $2 for update`,
    [projectId, insightId],
  );
  return row && toInsight(row);
}

export async function saveChanges(
  tx: Queryable,
  userId: number,
  insight: StoredInsight,
): Promise<StoredInsight> {
  const [row] = await tx.query<InsightRow>(
    `update insights set name = $2, derived_name = $3, description = $4, filters = $5::jsonb, query = $6::jsonb,
       tags = $7::text[], saved = $8, favorited = $9, deleted = $10, updated_at = now(),
       last_modified_at = now(), last_modified_by = $11
     where id = $1 returning ${COLUMNS}`,
    [
      insight.id,
      insight.name,
      insight.derivedName,
      insight.description,
      stringifyJson(insight.filters),
      insight.query ? stringifyJson(insight.query) : null,
      insight.tags,
      insight.saved,
      insight.favorited,
      insight.deleted,
      userId,
    ],
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
  const filtered = `from insights where project_id = $1 and not deleted
    and ($2::text is null or short_id = $2) and ($3::boolean is null or saved = $3)
    and ($4::text is null or position(lower($4) in lower(concat_ws(' ', name, derived_name, description))) > 0)`;
  const params = [projectId, shortId ?? null, saved ?? null, search || null];
  const [total] = await db.query<{ count: number }>(`select count(*) as count ${filtered}`, params);
  const rows = await db.query<InsightRow>(
    `select ${COLUMNS} ${filtered} order by created_at desc, id desc limit $5::bigint offset $6::bigint`,
    [...params, page.limit, page.offset],
  );
  return { count: total?.count ?? 0, insights: rows.map(toInsight) };
}

export const MAX_NAME = 400;

const SHORT_ID_CHARACTERS = 8;

/** The last characters of a much longer number, so that each is as likely as any other. */
const createShortId = (): string => base62(randomBytes(16)).slice(-SHORT_ID_CHARACTERS);
