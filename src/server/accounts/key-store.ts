import type { PersonalKey } from '../auth/keys.ts';
import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';

export interface StoredKey {
  readonly id: number;
  readonly label: string;
  readonly userId: number;
  readonly scopes: readonly string[];
  readonly projects: readonly number[] | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

const COLUMNS = sql`k.id, k.label, k.user_id as "userId", k.scopes, k.project_ids as projects,
  k.created_at as "createdAt", k.last_used_at as "lastUsedAt", k.revoked_at as "revokedAt"`;

/**
 * The users `u` whom a user may act for: themselves, and those in whose every organisation they are at least
 * an administrator and not below them. Acting for anybody else would open what their own keys do not.
 */
const isActedForBy = (userId: number) => sql`(u.id = ${userId} or (
  exists (select from organization_members theirs where theirs.user_id = u.id)
  and not exists (
    select from organization_members theirs left join organization_members own
      on own.organization_id = theirs.organization_id and own.user_id = ${userId}
    where theirs.user_id = u.id and (own.level is null or own.level < greatest(8, theirs.level)))))`;

/** The keys `k` that a key could have made. */
const fromWithinReach = ({ userId, projectIds }: PersonalKey) =>
  sql`from personal_api_keys k join users u on u.id = k.user_id
    where ${isActedForBy(userId)}
      and (${projectIds}::integer[] is null or k.project_ids <@ ${projectIds}::integer[])`;

/** Oldest first, revoked ones too. */
export async function loadKeys(
  db: Queryable,
  caller: PersonalKey,
  page: Page,
): Promise<{ count: number; keys: StoredKey[] }> {
  const reach = fromWithinReach(caller);
  const [total] = await runSql<{ count: number }>(db, sql`select count(*) as count ${reach}`);
  const keys = await runSql<StoredKey>(
    db,
    sql`select ${COLUMNS} ${reach} order by k.id limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, keys };
}

export async function loadKey(
  db: Queryable,
  caller: PersonalKey,
  id: number,
): Promise<StoredKey | undefined> {
  const [key] = await runSql<StoredKey>(
    db,
    sql`select ${COLUMNS} ${fromWithinReach(caller)} and k.id = ${id}`,
  );
  return key;
}

/** False when the key is out of reach. Revoking again changes nothing. */
export async function revokeKey(db: Queryable, caller: PersonalKey, id: number): Promise<boolean> {
  const rows = await runSql(
    db,
    sql`update personal_api_keys set revoked_at = coalesce(revoked_at, now())
      where id in (select k.id ${fromWithinReach(caller)} and k.id = ${id}) returning id`,
  );
  return rows.length > 0;
}

/**
 * The user with this id or e-mail address, if the caller shares an organisation with them;
 * `actsFor`: whether the caller may make keys that act for them.
 */
export async function findUser(
  db: Queryable,
  callerId: number,
  named: number | string,
): Promise<{ id: number; actsFor: boolean } | undefined> {
  const isNamed =
    typeof named === 'number' ? sql`u.id = ${named}::integer` : sql`lower(u.email) = lower(${named}::text)`;
  const [user] = await runSql<{ id: number; actsFor: boolean }>(
    db,
    sql`select u.id, ${isActedForBy(callerId)} as "actsFor" from users u
      where ${isNamed}
        and (u.id = ${callerId} or exists (
          select from organization_members a join organization_members b using (organization_id)
          where a.user_id = ${callerId} and b.user_id = u.id))`,
  );
  return user;
}
