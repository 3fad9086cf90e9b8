import { z } from '@hono/zod-openapi';
import type { Queryable } from '../database/db.ts';
import { parseJsonObject } from '../http/json.ts';

/** Levels of an organisation's members. */
export const MEMBER_LEVEL = { member: 1, admin: 8, owner: 15 } as const;

/** A user as dashboards, collaborators, cohorts and definitions show who made them. */
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

type UserRow = Omit<User, 'hedgehog_config'> & { readonly hedgehog_config: string };

const COLUMNS =
  'u.id, u.uuid, u.distinct_id, u.first_name, u.last_name, u.email, u.is_email_verified, u.hedgehog_config';

const getUser = (row: UserRow): User => ({
  ...row,
  hedgehog_config: { ...parseJsonObject(row.hedgehog_config) },
});

export async function loadUser(db: Queryable, id: number): Promise<User | undefined> {
  return (await loadUsers(db, [id])).get(id);
}

/** By id; ids that do not exist are left out. */
export async function loadUsers(db: Queryable, ids: readonly number[]): Promise<Map<number, User>> {
  if (ids.length === 0) return new Map();
  const rows = await db.query<UserRow>(`select ${COLUMNS} from users u where u.id = any($1::integer[])`, [
    [...new Set(ids)],
  ]);
  return new Map(rows.map((row) => [row.id, getUser(row)]));
}

export async function loadUserByUuid(db: Queryable, uuid: string): Promise<User | undefined> {
  const [row] = await db.query<UserRow>(`select ${COLUMNS} from users u where u.uuid = $1`, [uuid]);
  return row && getUser(row);
}

/** Level of a user in an organisation; undefined for who is no member. */
export async function loadMemberLevel(
  db: Queryable,
  organizationId: string,
  userId: number,
): Promise<number | undefined> {
  const [row] = await db.query<{ level: number }>(
    'select level from organization_members where organization_id = $1 and user_id = $2',
    [organizationId, userId],
  );
  return row?.level;
}

export interface NewUser {
  readonly email: string;
  readonly firstName: string;
  readonly lastName?: string | undefined;
  /** Default `member`. */
  readonly level?: keyof typeof MEMBER_LEVEL | undefined;
  /** Left out: the first organisation. */
  readonly organizationId?: string | undefined;
}

/** Adds a user to an organisation. An e-mail address in use is the database's unique violation (23505). */
export async function createUser(tx: Queryable, wanted: NewUser): Promise<User> {
  const [row] = await tx.query<UserRow>(
    `insert into users as u (email, first_name, last_name) values ($1, $2, $3) returning ${COLUMNS}`,
    [wanted.email, wanted.firstName, wanted.lastName ?? ''],
  );
  if (row === undefined) throw new Error('insert into users returned no row');
  await tx.query(
    `insert into organization_members (organization_id, user_id, level)
     values (coalesce($1::uuid, (select id from organizations order by created_at, id limit 1)), $2, $3)`,
    [wanted.organizationId ?? null, row.id, MEMBER_LEVEL[wanted.level ?? 'member']],
  );
  return getUser(row);
}
