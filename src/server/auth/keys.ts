import { createHash, randomBytes } from 'node:crypto';
import type { Db, Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { base62 } from './base62.ts';
import type { Scope } from './scopes.ts';

/**
 * Personal keys (`phx_…`): secrets with scopes, each acting for one user. The database stores only their
 * hashes, and a key is shown once, when it is created.
 */
export interface PersonalKey {
  readonly id: number;
  readonly userId: number;
  readonly label: string;
  /** Scopes such as `person:read`; `*` means all. */
  readonly scopes: readonly string[];
  /** Projects the key is restricted to; null for every project of its user. */
  readonly projectIds: readonly number[] | null;
}

export interface NewPersonalKey {
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** @default null, which means every project */
  readonly projectIds?: readonly number[] | null | undefined;
  /** @default the first owner of the service */
  readonly userId?: number | undefined;
}

/** Creates a personal key. Its token is returned only here. */
export async function createKey(
  db: Queryable,
  wanted: NewPersonalKey,
): Promise<{ id: number; token: string }> {
  const token = `phx_${base62(randomBytes(32))}`;
  const id = await savePersonalKey(db, token, wanted);
  if (id === undefined) throw new Error('two keys of 256 random bits are equal');
  return { id, token };
}

/**
 * Creates a personal key with a token that the operator chose, and returns its id. Undefined: it exists
 * already, or was revoked, and is not changed.
 */
export async function savePersonalKey(
  db: Queryable,
  token: string,
  wanted: NewPersonalKey,
): Promise<number | undefined> {
  const [row] = await runSql<{ id: number }>(
    db,
    sql`insert into personal_api_keys (label, key_hash, scopes, project_ids, user_id)
       values (${wanted.label}, ${hashToken(token)}, ${wanted.scopes}, ${wanted.projectIds ?? null},
        coalesce(${wanted.userId ?? null}::integer, (
        select user_id from organization_members where level = 15 order by joined_at, user_id limit 1)))
      on conflict (key_hash) do nothing returning id`,
  );
  return row?.id;
}

/**
 * The key of a token, looked up by hash, so that the timing of the comparison reveals nothing about the
 * token. Updates the time of last use at most once an hour.
 */
export async function loadPersonalKey(db: Db, token: string): Promise<PersonalKey | undefined> {
  const [row] = await runSql<PersonalKey & { readonly isStale: boolean }>(
    db,
    sql`select id, user_id as "userId", label, scopes, project_ids as "projectIds",
        last_used_at is null or last_used_at < now() - interval '1 hour' as "isStale"
      from personal_api_keys where key_hash = ${hashToken(token)} and revoked_at is null`,
  );
  if (row === undefined) return undefined;
  const { isStale, ...key } = row;
  if (isStale) {
    await runSql(db, sql`update personal_api_keys set last_used_at = now() where id = ${key.id}`);
  }
  return key;
}

/** Tokens carry 256 random bits, so that a plain hash is as good as a slow one. */
function hashToken(token: string): string {
  return `sha256$${createHash('sha256').update(token).digest('hex')}`;
}
