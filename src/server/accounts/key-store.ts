import type { PersonalKey } from '../auth/keys.ts';
import type { Queryable } from '../database/db.ts';
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

const COLUMNS = `k.id, k.label, k.user_id as "userId", k.scopes, k.project_ids as projects,
  k.created_at as "createdAt", k.last_used_at as "lastUsedAt", k.revoked_at as "revokedAt"`;

/**
 * Users that $1 may act for: $1, and those in whose every organisation $1 is an administrator at least,
 * and not below them. Acting for anybody else would open what $1's own keys do not.
 */
const ACTS_FOR_USER = `(u.id = $1 or (
  exists (select from organization_members theirs where theirs.user_id = u.id)
  and not exists (
    select from organization_members theirs left join organization_members own
      on own.organization_id = theirs.organization_id and own.user_id = $1
    where theirs.user_id = u.id and (own.level is null or own.level < greatest(8, theirs.level)))))`;

/** The keys that a key of user $1, restricted to the projects $2, could have made. */
const WITHIN_REACH = `from personal_api_keys k join users u on u.id = k.user_id
  where ${ACTS_FOR_USER} and ($2::integer[] is null or k.project_ids <@ $2::integer[])`;

const reachOf = ({ userId, projectIds }: PersonalKey) => [userId, projectIds] as const;

/** Oldest first, revoked ones too. */
export async function loadKeys(
  db: Queryable,
  asking: PersonalKey,
  page: Page,
): Promise<{ count: number; keys: StoredKey[] }> {
  const [total] = await db.query<{ count: number }>(
    `select count(*) as count ${WITHIN_REACH}`,
    reachOf(asking),
  );
  const keys = await db.query<StoredKey>(
    `select ${COLUMNS} ${WITHIN_REACH} order by k.id limit $3::bigint offset $4::bigint`,
    [...reachOf(asking), page.limit, page.offset],
  );
  return { count: total?.count ?? 0, keys };
}

export async function loadKey(
  db: Queryable,
  asking: PersonalKey,
  id: number,
): Promise<StoredKey | undefined> {
  const [key] = await db.query<StoredKey>(`select ${COLUMNS} ${WITHIN_REACH} and k.id = $3`, [
    ...reachOf(asking),
    id,
  ]);
  return key;
}

/** False when the key is out of reach. Revoking again changes nothing. */
export async function revokeKey(db: Queryable, asking: PersonalKey, id: number): Promise<boolean> {
  const rows = await db.query(
    `update personal_api_keys set revoked_at = coalesce(revoked_at, now())
     where id in (select k.id ${WITHIN_REACH} and k.id = $3) returning id`,
    [...reachOf(asking), id],
  );
  return rows.length > 0;
}

/**
 * The user with this id or e-mail address, as far as the asking user shares an organisation with them;
 * `actsFor`: whether the asking user may make keys that speak for them.
 */
export async function findUser(
  db: Queryable,
  askingUserId: number,
  named: number | string,
): Promise<{ id: number; actsFor: boolean } | undefined> {
  const [user] = await db.query<{ id: number; actsFor: boolean }>(
    `select u.id, ${ACTS_FOR_USER} as "actsFor" from users u
     where ${typeof named === 'number' ? 'u.id = $2::integer' : 'lower(u.email) = lower($2::text)'}
       and (u.id = $1 or exists (
         select from organization_members a join organization_members b using (organization_id)
         where a.user_id = $1 and b.user_id = u.id))`,
    [askingUserId, named],
  );
  return user;
}
