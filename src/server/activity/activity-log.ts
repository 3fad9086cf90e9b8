import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';

/** One change that somebody made, as `/persons/:id/activity/` lists it. */
export interface Activity {
  readonly projectId: number;
  /** Null: the system itself. */
  readonly userId: number | null;
  /** What kind of thing was touched: `Person`, `Dashboard`, `EventDefinition` … */
  readonly scope: string;
  readonly itemId: string;
  /** `created`, `updated`, `deleted`, `split_person` … */
  readonly activity: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface LoggedActivity extends Omit<Activity, 'detail'> {
  readonly id: number;
  /** JSON text. */
  readonly detail: string;
  readonly createdAt: string;
}

/** Call it within the transaction of the change, so that neither is stored without the other. */
export async function recordActivity(tx: Queryable, activity: Activity): Promise<void> {
  const { projectId, userId, scope, itemId, detail } = activity;
  await runSql(
    tx,
    sql`insert into activity_log (project_id, user_id, scope, item_id, activity, detail)
      values (${projectId}, ${userId}, ${scope}, ${itemId}, ${activity.activity}, ${stringifyJson(detail)})`,
  );
}

/** A change that names its fields without their values: of a flag, a cohort or an action. */
export interface ChangeOfFields {
  readonly scope: 'FeatureFlag' | 'Cohort' | 'Action';
  readonly activity: 'created' | 'updated' | 'deleted';
  readonly id: number;
  readonly name: string | null;
  /** Null: the thing as a whole, as when it was made. */
  readonly fields: readonly string[] | null;
}

/** As `recordActivity`. */
export function recordChangeOfFields(
  tx: Queryable,
  { projectId, userId }: Pick<Activity, 'projectId' | 'userId'>,
  { scope, activity, id, name, fields }: ChangeOfFields,
): Promise<void> {
  const changes =
    fields?.map((field) => ({ type: scope, action: 'changed', field, before: null, after: null })) ?? null;
  const detail = { name, changes, merge: null, trigger: null, short_id: null, type: null };
  return recordActivity(tx, { projectId, userId, scope, itemId: String(id), activity, detail });
}

/** Newest first. Without `itemId`: of all items of the scope. */
export async function loadActivity(
  db: Queryable,
  filter: { readonly projectId: number; readonly scope: string; readonly itemId?: string | undefined },
  page: Page,
): Promise<{ count: number; activities: LoggedActivity[] }> {
  const { projectId, scope, itemId } = filter;
  const ofItem = itemId === undefined ? sql`true` : sql`item_id = ${itemId}`;
  const matching = sql`from activity_log where project_id = ${projectId} and scope = ${scope} and ${ofItem}`;
  const [total] = await runSql<{ count: number }>(db, sql`select count(*) as count ${matching}`);
  const activities = await runSql<LoggedActivity>(
    db,
    sql`select id, project_id as "projectId", user_id as "userId", scope, item_id as "itemId", activity,
        detail, created_at as "createdAt"
      ${matching} order by id desc limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, activities };
}
