import { z } from '@hono/zod-openapi';
import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { parseJsonObject } from '../http/json.ts';

/** Levels of an organisation's members. */
export const MEMBER_LEVEL = { member: 1, admin: 8, owner: 15 } as const;

/** A user in response bodies, such as the creator of a dashboard. */
export const userSchema = z
  .object({
    id: z.number().int(),
    uuid: z.uuid(),
    distinct_id: z.string(),
    first_name: z.string(),
    last_name: z.string(),
    email: z.string(),
    is_email_verified: z.boolean(),
    hedgehog_config: z.record(z.string(), z.unknown()),
  })
  .openapi('User');

export type User = z.infer<typeof userSchema>;

interface UserRow {
  readonly id: number;
  readonly uuid: string;
  readonly distinctId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly isEmailVerified: boolean;
  /** JSON text. */
  readonly hedgehogConfig: string;
}

const COLUMNS = sql`u.id, u.uuid, u.distinct_id as "distinctId", u.first_name as "firstName",
  u.last_name as "lastName", u.email, u.is_email_verified as "isEmailVerified",
  u.hedgehog_config as "hedgehogConfig"`;

const toUser = (row: UserRow): User => ({
  id: row.id,
  uuid: row.uuid,
  distinct_id: row.distinctId,
  first_name: row.firstName,
  last_name: row.lastName,
  email: row.email,
  is_email_verified: row.isEmailVerified,
  hedgehog_config: { ...parseJsonObject(row.hedgehogConfig) },
});

export async function loadUser(db: Queryable, id: number): Promise<User | undefined> {
  return (await loadUsers(db, [id])).get(id);
}

/** By id, without ids that do not exist. */
export async function loadUsers(db: Queryable, ids: readonly number[]): Promise<Map<number, User>> {
  if (ids.length === 0) return new Map();
  const rows = await runSql<UserRow>(
    db,
    sql`select ${COLUMNS} from users u where u.id = any(${[...new Set(ids)]}::integer[])`,
  );
  return new Map(rows.map((row) => [row.id, toUser(row)]));
}

export async function loadUserByUuid(db: Queryable, uuid: string): Promise<User | undefined> {
  const [row] = await runSql<UserRow>(db, sql`select ${COLUMNS} from users u where u.uuid = ${uuid}`);
  return row && toUser(row);
}

/** Level of a user in an organisation; undefined for a user who is no member. */
export async function loadMemberLevel(
  db: Queryable,
  organizationId: string,
  userId: number,
): Promise<number | undefined> {
  const [row] = await runSql<{ level: number }>(
    db,
    sql`select level from organization_members
      where organization_id = ${organizationId} and user_id = ${userId}`,
  );
  return row?.level;
}

export interface NewUser {
  readonly email: string;
  readonly firstName: string;
  readonly lastName?: string | undefined;
  /** @default 'member' */
  readonly level?: keyof typeof MEMBER_LEVEL | undefined;
  /** @default the first organisation */
  readonly organizationId?: string | undefined;
}

/**
 * Adds a user to an organisation. The e-mail address of a member of any organisation is the database's unique
 * violation (23505); a user who was removed from all of them comes back.
 */
export async function createUser(tx: Queryable, wanted: NewUser): Promise<User> {
  const [row] = await runSql<UserRow>(
    tx,
    sql`with returned as (
        update users u set first_name = ${wanted.firstName}, last_name = ${wanted.lastName ?? ''}
        where lower(u.email) = lower(${wanted.email})
          and not exists (select from organization_members m where m.user_id = u.id)
        returning ${COLUMNS}
      ), added as (
        insert into users as u (email, first_name, last_name)
        select ${wanted.email}, ${wanted.firstName}, ${wanted.lastName ?? ''}
        where not exists (select from returned) returning ${COLUMNS}
      )
      select * from returned union all select * from added`,
  );
  if (row === undefined) throw new Error('insert into users returned no row');
  await runSql(
    tx,
    sql`insert into organization_members (organization_id, user_id, level)
      values (
        coalesce(
          ${wanted.organizationId ?? null}::uuid,
          (select id from organizations order by created_at, id limit 1)),
        ${row.id}, ${MEMBER_LEVEL[wanted.level ?? 'member']})`,
  );
  return toUser(row);
}
