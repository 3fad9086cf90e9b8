import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { base62 } from './base62.ts';
import { MEMBER_LEVEL } from './users.ts';

/**
 * A project owns events, persons and everything made of them. Its key (`phc_…`) is public, is sent in
 * request bodies and only allows to ingest events.
 */
export interface Project {
  readonly id: number;
  readonly uuid: string;
  readonly organizationId: string;
  readonly name: string;
  readonly projectKey: string;
  readonly createdAt: string;
  /** Where its days begin: an IANA name. */
  readonly timeZone: string;
  /** Where its weeks begin: 0 is Sunday, 1 Monday. */
  readonly weekStartDay: 0 | 1;
  /** How many of its event definitions were removed so far. */
  readonly definitionsRemoved: number;
}

/** What a `Project` is read from. */
export const PROJECT_COLUMNS = sql`id, uuid, organization_id as "organizationId", name, api_token as "projectKey",
  created_at as "createdAt", time_zone as "timeZone", week_start_day as "weekStartDay",
  definitions_removed as "definitionsRemoved"`;

/** A new project key. */
export const createProjectKey = (): string => `phc_${base62(randomBytes(32))}`;

/**
 * The project with this key; created under `name` when there is none, in the named organisation,
 * or else in the first.
 */
export async function ensureProject(
  db: Queryable,
  wanted: { readonly name: string; readonly projectKey: string; readonly organizationId?: string },
): Promise<Project> {
  const [row] = await runSql<Project>(
    db,
    sql`insert into projects (name, api_token, organization_id)
       values (
         ${wanted.name}, ${wanted.projectKey},
         coalesce(
           ${wanted.organizationId ?? null}::uuid,
           (select id from organizations order by created_at, id limit 1)))
      on conflict (api_token) do update set api_token = excluded.api_token
      returning ${PROJECT_COLUMNS}`,
  );
  if (row === undefined) throw new Error('insert into projects returned no row');
  return row;
}

export async function loadProjectByKey(db: Queryable, projectKey: string): Promise<Project | undefined> {
  const [row] = await runSql<Project>(
    db,
    sql`select ${PROJECT_COLUMNS} from projects where api_token = ${projectKey}`,
  );
  return row;
}

/** Projects of a member's organisations, oldest first; `only`: restricted to these ids, null for all. */
export async function loadProjects(
  db: Queryable,
  userId: number,
  only: readonly number[] | null,
): Promise<Project[]> {
  const rows = await runSql<Project>(
    db,
    sql`select ${PROJECT_COLUMNS} from projects
      where organization_id in (select organization_id from organization_members where user_id = ${userId})
        and (${only}::integer[] is null or id = any(${only}::integer[]))
      order by id`,
  );
  return rows;
}

/** Ids of the projects of organisations that the user owns; `only` as above. */
export async function loadOwnedProjects(
  db: Queryable,
  userId: number,
  only: readonly number[] | null,
): Promise<number[]> {
  const rows = await runSql<{ id: number }>(
    db,
    sql`select id from projects
      where organization_id in (
          select organization_id from organization_members
          where user_id = ${userId} and level = ${MEMBER_LEVEL.owner})
        and (${only}::integer[] is null or id = any(${only}::integer[]))
      order by id`,
  );
  return rows.map(({ id }) => id);
}

export interface ProjectChange {
  readonly name?: string | undefined;
  readonly projectKey?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly weekStartDay?: 0 | 1 | undefined;
}

/** Changes what is given; undefined where there is no such project. */
export async function changeProject(
  db: Queryable,
  id: number,
  change: ProjectChange,
): Promise<Project | undefined> {
  const [row] = await runSql<Project>(
    db,
    sql`update projects set name = coalesce(${change.name ?? null}, name),
        api_token = coalesce(${change.projectKey ?? null}, api_token),
        time_zone = coalesce(${change.timeZone ?? null}, time_zone),
        week_start_day = coalesce(${change.weekStartDay ?? null}::smallint, week_start_day)
      where id = ${id} returning ${PROJECT_COLUMNS}`,
  );
  return row;
}

export async function loadProject(db: Queryable, id: number): Promise<Project | undefined> {
  const [row] = await runSql<Project>(db, sql`select ${PROJECT_COLUMNS} from projects where id = ${id}`);
  return row;
}
