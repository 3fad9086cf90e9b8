import { createHash, randomBytes } from 'node:crypto';
import type { Db, Queryable } from '../database/db.ts';
import { base62 } from './base62.ts';
import type { Scope } from './scopes.ts';

/**
 * Personal keys (`phx_…`): secrets with scopes, each speaking for one user. The database knows their
 * hashes alone, and a key is shown once, when it is made.
 */
export interface PersonalKey {
  readonly id: number;
  readonly userId: number;
  readonly label: string;
  /** Scopes such as `person:read`; `*` stands for all. */
  readonly scopes: readonly string[];
  /** Projects the key is restricted to; null for every project of its user. */
  readonly projectIds: readonly number[] | null;
}

export interface NewPersonalKey {
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** Left out, or null: every project. */
  readonly projectIds?: readonly number[] | null | undefined;
  /** Left out: the first owner of the service. */
  readonly userId?: number | undefined;
}

/** Makes a personal key; its token is seen this once. */
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
 * Makes sure that a personal key chosen by the starter exists, and returns its id. One that existed, or was
 * revoked, is left as it is: undefined.
 */
export async function savePersonalKey(
  db: Queryable,
  token: string,
  wanted: NewPersonalKey,
): Promise<number | undefined> {
  const [row] = await db.query<{ id: number }>(
    `insert into personal_api_keys (label, key_hash, scopes, project_ids, user_id)
     values ($1, $2, $3, $4, coalesce($5::integer, (
       select user_id from organization_members where level = 15 order by joined_at, user_id limit 1)))
     on conflict (key_hash) do nothing returning id`,
    [wanted.label, hashOf(token), wanted.scopes, wanted.projectIds ?? null, wanted.userId ?? null],
  );
  return row?.id;
}

/**
 * The key behind a token, looked up by hash: what the comparison's timing could tell is about a hash,
 * not about the token. The hour of last use is kept.
 */
export async function loadPersonalKey(db: Db, token: string): Promise<PersonalKey | undefined> {
  const [row] = await db.query<{
    id: number;
    user_id: number;
    label: string;
    scopes: string[];
    project_ids: number[] | null;
    stale: boolean;
  }>(
    `select id, user_id, label, scopes, project_ids,
       last_used_at is null or last_used_at < now() - interval '1 hour' as stale
     from personal_api_keys where key_hash = $1 and revoked_at is null`,
    [hashOf(token)],
  );
  if (row === undefined) return undefined;
  if (row.stale) await db.query('update personal_api_keys set last_used_at = now() where id = $1', [row.id]);
  const { id, user_id: userId, label, scopes, project_ids: projectIds } = row;
  return { id, userId, label, scopes, projectIds };
}

/** Tokens carry 256 random bits, so that a plain hash is as good as a slow one. */
function hashOf(token: string): string {
  return `sha256$${createHash('sha256').update(token).digest('hex')}`;
}
