import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/db.ts';
import { base62 } from './base62.ts';

/**
 * A project owns events, people and everything made of them. Its key (`phc_…`) is public, travels in
 * request bodies and only lets events in.
 */
export interface Project {
  readonly id: number;
  readonly uuid: string;
  readonly organizationId: string;
  readonly name: string;
  readonly projectKey: string;
  readonly createdAt: string;
  /** How many of its event definitions were removed so far. */
  readonly definitionsRemoved: number;
}

interface ProjectRow {
  id: number;
  uuid: string;
  organization_id: string;
  name: string;
  api_token: string;
  created_at: string;
  definitions_removed: number;
}

const COLUMNS = 'id, uuid, organization_id, name, api_token, created_at, definitions_removed';

function projectOf(row: ProjectRow): Project {
  return {
    id: row.id,
    uuid: row.uuid,
    organizationId: row.organization_id,
    name: row.name,
    projectKey: row.api_token,
    createdAt: row.created_at,
    definitionsRemoved: row.definitions_removed,
  };
}

/** A new project key. */
export const createProjectKey = (): string => `phc_${base62(randomBytes(32))}`;

/**
 * The project with this key; created under `name` when there is none, in the organisation named or else
 * in the first.
 */
export async function ensureProject(
  db: Queryable,
  wanted: { readonly name: string; readonly projectKey: string; readonly organizationId?: string },
): Promise<Project> {
  const [row] = await db.query<ProjectRow>(
    `insert into projects (name, api_token, organization_id)
     values ($1, $2, coalesce($3::uuid, (select id from organizations order by created_at, id limit 1)))
     on conflict (api_token) do update set api_token = excluded.api_token
     returning ${COLUMNS}`,
    [wanted.name, wanted.projectKey, wanted.organizationId ?? null],
  );
  if (row === undefined) throw new Error('insert into projects returned no row');
  return projectOf(row);
}

export async function loadProjectByKey(db: Queryable, projectKey: string): Promise<Project | undefined> {
  const [row] = await db.query<ProjectRow>(`select ${COLUMNS} from projects where api_token = $1`, [
    projectKey,
  ]);
  return row && projectOf(row);
}

/** Projects of a member's organisations, oldest first; `only`: those among them, null for all. */
export async function loadProjects(
  db: Queryable,
  userId: number,
  only: readonly number[] | null,
): Promise<Project[]> {
  const rows = await db.query<ProjectRow>(
    `select ${COLUMNS} from projects
     where organization_id in (select organization_id from organization_members where user_id = $1)
       and ($2::integer[] is null or id = any($2::integer[]))
     order by id`,
    [userId, only],
  );
  return rows.map(projectOf);
}

export async function loadProject(db: Queryable, id: number): Promise<Project | undefined> {
  const [row] = await db.query<ProjectRow>(`select ${COLUMNS} from projects where id = $1`, [id]);
  return row && projectOf(row);
}
