import { createHash, randomBytes } from 'node:crypto';
import type { Db } from './database/db.ts';

/**
 * The two kinds of keys. A project key (`phc_…`) is public, travels in request bodies and only lets
 * events in. A personal key (`phx_…`) is a secret with scopes; the database knows its hash alone.
 */
export interface Project {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly projectKey: string;
  readonly createdAt: string;
}

export interface PersonalKey {
  readonly id: number;
  readonly label: string;
  /** Scopes such as `person:read`; `*` stands for all. */
  readonly scopes: readonly string[];
  /** Projects the key is restricted to; null for every project. */
  readonly projectIds: readonly number[] | null;
}

interface ProjectRow {
  id: number;
  uuid: string;
  name: string;
  api_token: string;
  created_at: string;
}

const PROJECT_COLUMNS = 'id, uuid, name, api_token, created_at';

function projectOf(row: ProjectRow): Project {
  return { id: row.id, uuid: row.uuid, name: row.name, projectKey: row.api_token, createdAt: row.created_at };
}

/** The project with this key; created under `name` when there is none. */
export async function ensureProject(db: Db, wanted: { name: string; projectKey: string }): Promise<Project> {
  const [row] = await db.query<ProjectRow>(
    `insert into projects (name, api_token) values ($1, $2)
     on conflict (api_token) do update set api_token = excluded.api_token
     returning ${PROJECT_COLUMNS}`,
    [wanted.name, wanted.projectKey],
  );
  if (row === undefined) throw new Error('insert into projects returned no row');
  return projectOf(row);
}

export async function loadProjectByKey(db: Db, projectKey: string): Promise<Project | undefined> {
  const [row] = await db.query<ProjectRow>(`select ${PROJECT_COLUMNS} from projects where api_token = $1`, [
    projectKey,
  ]);
  return row && projectOf(row);
}

/** Projects that the key may see, oldest first. */
export async function loadProjects(db: Db, key: PersonalKey): Promise<Project[]> {
  const rows = await db.query<ProjectRow>(
    `select ${PROJECT_COLUMNS} from projects where $1::integer[] is null or id = any($1::integer[]) order by id`,
    [key.projectIds],
  );
  return rows.map(projectOf);
}

export async function loadProject(db: Db, id: number): Promise<Project | undefined> {
  const [row] = await db.query<ProjectRow>(`select ${PROJECT_COLUMNS} from projects where id = $1`, [id]);
  return row && projectOf(row);
}

/** A new project key. */
export const createProjectToken = (): string => `phc_${base62(randomBytes(32))}`;

export interface NewPersonalKey {
  readonly label: string;
  readonly scopes: readonly string[];
  /** Left out: every project. */
  readonly projectIds?: readonly number[];
}

/** Makes a personal key and returns it, the only time it can be seen. */
export async function createPersonalKey(db: Db, wanted: NewPersonalKey): Promise<string> {
  const token = `phx_${base62(randomBytes(32))}`;
  await savePersonalKey(db, token, wanted);
  return token;
}

/** Makes sure that a personal key chosen by the starter exists. An existing one is left as it is. */
export async function savePersonalKey(db: Db, token: string, wanted: NewPersonalKey): Promise<void> {
  await db.query(
    `insert into personal_api_keys (label, key_hash, scopes, project_ids) values ($1, $2, $3, $4)
     on conflict (key_hash) do nothing`,
    [wanted.label, hashOf(token), wanted.scopes, wanted.projectIds ?? null],
  );
}

/**
 * The key behind a token, looked up by hash: what the comparison's timing could tell is about a hash,
 * not about the token. The hour of last use is kept.
 */
export async function loadPersonalKey(db: Db, token: string): Promise<PersonalKey | undefined> {
  const [row] = await db.query<{
    id: number;
    label: string;
    scopes: string[];
    project_ids: number[] | null;
    stale: boolean;
  }>(
    `select id, label, scopes, project_ids,
       last_used_at is null or last_used_at < now() - interval '1 hour' as stale
     from personal_api_keys where key_hash = $1 and revoked_at is null`,
    [hashOf(token)],
  );
  if (row === undefined) return undefined;
  if (row.stale) await db.query('update personal_api_keys set last_used_at = now() where id = $1', [row.id]);
  return { id: row.id, label: row.label, scopes: row.scopes, projectIds: row.project_ids };
}

/** Tokens carry 256 random bits, so that a plain hash is as good as a slow one. */
function hashOf(token: string): string {
  return `sha256$${createHash('sha256').update(token).digest('hex')}`;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text;
  return text;
}
