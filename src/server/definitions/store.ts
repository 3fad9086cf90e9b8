import type { Queryable } from '../database/db.ts';
import { allOf, joinSql, runSql, type Sql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';

export interface StoredDefinition {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly ownerId: number | null;
  readonly postToSlack: boolean;
  readonly verifiedAt: string | null;
  readonly verifiedBy: number | null;
  readonly updatedAt: string | null;
  readonly updatedBy: number | null;
}

export interface DefinitionFilter {
  /** Each must be part of the name, in any case. */
  readonly words: readonly string[];
  readonly kind: 'all' | 'custom' | 'own';
  readonly order: DefinitionOrder;
}

export type DefinitionOrder = 'name' | '-name' | 'last_seen_at' | '-last_seen_at';

const COLUMNS = sql`id, name, created_at as "createdAt", last_seen_at as "lastSeenAt", description, tags,
  owner_id as "ownerId", post_to_slack as "postToSlack", verified_at as "verifiedAt",
  verified_by as "verifiedBy", updated_at as "updatedAt", updated_by as "updatedBy"`;

const ORDERS: Readonly<Record<DefinitionOrder, Sql>> = {
  name: sql`name`,
  '-name': sql`name desc`,
  last_seen_at: sql`last_seen_at, name`,
  '-last_seen_at': sql`last_seen_at desc, name`,
};

export async function loadDefinitions(
  db: Queryable,
  projectId: number,
  filter: DefinitionFilter,
  page: Page,
): Promise<{ count: number; definitions: StoredDefinition[] }> {
  const where = allOf([
    sql`project_id = ${projectId}::integer`,
    ...filter.words.map((word) => sql`position(lower(${word}) in lower(name)) > 0`),
    ...(filter.kind === 'all' ? [] : [filter.kind === 'own' ? sql`name like '$%'` : sql`name not like '$%'`]),
  ]);
  const [total] = await runSql<{ count: number }>(
    db,
    sql`select count(*) as count from event_definitions where ${where}`,
  );
  const definitions = await runSql<StoredDefinition>(
    db,
    sql`select ${COLUMNS} from event_definitions where ${where} order by ${ORDERS[filter.order]}
      limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, definitions };
}

export async function loadDefinition(
  db: Queryable,
  projectId: number,
  id: string,
): Promise<StoredDefinition | undefined> {
  const [row] = await runSql<StoredDefinition>(
    db,
    sql`select ${COLUMNS} from event_definitions where project_id = ${projectId}::integer and id = ${id}::uuid`,
  );
  return row;
}

export interface DefinitionChange {
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly ownerId?: number | null;
  readonly postToSlack?: boolean;
  readonly verified?: boolean;
}

/** Undefined when there is no such definition. Who verified a definition first stays its verifier. */
export async function changeDefinition(
  tx: Queryable,
  projectId: number,
  id: string,
  change: DefinitionChange,
  userId: number,
): Promise<StoredDefinition | undefined> {
  const { description, tags, ownerId, postToSlack, verified } = change;
  const changes = [
    sql`updated_at = clock_timestamp()`,
    sql`updated_by = ${userId}::integer`,
    ...(description === undefined ? [] : [sql`description = ${description}`]),
    ...(tags === undefined ? [] : [sql`tags = ${tags}::text[]`]),
    ...(ownerId === undefined ? [] : [sql`owner_id = ${ownerId}::integer`]),
    ...(postToSlack === undefined ? [] : [sql`post_to_slack = ${postToSlack}::boolean`]),
    ...(verified === undefined ? [] : setVerified(verified, userId)),
  ];
  const [row] = await runSql<StoredDefinition>(
    tx,
    sql`update event_definitions set ${joinSql(changes, ', ')}
      where project_id = ${projectId}::integer and id = ${id}::uuid returning ${COLUMNS}`,
  );
  return row;
}

function setVerified(verified: boolean, userId: number): Sql[] {
  if (!verified) return [sql`verified_at = null`, sql`verified_by = null`];
  return [
    sql`verified_at = coalesce(verified_at, clock_timestamp())`,
    sql`verified_by = coalesce(verified_by, ${userId}::integer)`,
  ];
}

/** The name of the definition that is gone now; undefined when there was none. In a transaction. */
export async function deleteDefinition(
  tx: Queryable,
  projectId: number,
  id: string,
): Promise<string | undefined> {
  const [row] = await runSql<{ name: string }>(
    tx,
    sql`delete from event_definitions where project_id = ${projectId}::integer and id = ${id}::uuid
      returning name`,
  );
  if (row === undefined) return undefined;
  // Tells every process that what it knows to be defined may be so no longer.
  await runSql(
    tx,
    sql`update projects set definitions_removed = definitions_removed + 1 where id = ${projectId}::integer`,
  );
  return row.name;
}
