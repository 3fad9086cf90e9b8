import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Db } from '../database/db.ts';
import { allowOrigin } from '../http/cors.ts';
import { ApiError, notFound, permissionDenied } from '../http/errors.ts';
import { isJsonObject } from '../http/json.ts';
import { readRequestBody } from '../http/request-body.ts';
import { parseRowId } from '../http/row-id.ts';
import { isStorable } from '../http/safe-json.ts';
import { loadPersonalKey, type PersonalKey } from './keys.ts';
import { loadProject, loadProjectByKey, loadProjects, type Project } from './projects.ts';
import type { Role } from './roles.ts';
import { grants, type Scope } from './scopes.ts';
import type { Throttle } from './throttle.ts';
import { loadMemberLevel, loadUser, type User } from './users.ts';

/** What a personal key needs for a route. */
export type KeyAccess =
  /** All of these scopes. */
  | { readonly scopes: readonly [Scope, ...Scope[]]; readonly anyKey?: never }
  /** Nothing more than to be valid, and why that is enough. */
  | { readonly anyKey: string; readonly scopes?: never };

/** A route below `/api/` for clients in browsers: takes the project key as `token` of the query. */
export interface ProjectKeyAccess {
  readonly projectKey: string;
}

/** A page of operations, or numbers for machines; takes user and password (roles.ts). */
export interface RoleAccess {
  readonly role: Role;
}

/** `public`: takes no personal key, and why; never below `/api/`. */
export type Access = KeyAccess | ProjectKeyAccess | RoleAccess | { readonly public: string };

/**
 * Who may call what, by method and path: `GET /api/projects/`. Derived from the routes as they are declared
 * (routing/route.ts). A route below `/api/` that is missing here responds with 403 to everybody.
 */
export type AccessTable = Map<string, Access>;

export interface ApiEnv {
  Variables: {
    /** Set on every route below `/api/`. */
    key: PersonalKey;
    /** The user whose key it is. Set on every route below `/api/`. */
    user: User;
    /** Set on every route below a project. */
    project: Project;
    /** Level of the user in the project's organisation (users.ts). Set on every route below a project. */
    level: number;
    /** Set on every route below `/api/` (routing/public-url.ts). */
    publicUrl: string | undefined;
    /** Set on every route that takes a role. */
    role: Role;
  };
}

/** Who calls, and where. */
export interface Caller {
  readonly projectId: number;
  readonly userId: number;
  /** Level in the project's organisation. */
  readonly memberLevel: number;
}

/** On a route below a project. */
export const getCaller = (c: Context<ApiEnv>): Caller => ({
  projectId: c.get('project').id,
  userId: c.get('user').id,
  memberLevel: c.get('level'),
});

/**
 * Checks, in the order clients rely on: key (401), limit (429), scopes (403), project (404), membership and
 * access to it (403). `table` may be filled later. A route for all methods cannot be in it, so it is never
 * reached.
 */
export function createAccessCheck(
  db: Db,
  throttle: Throttle | undefined,
  table: AccessTable,
): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
    if (route === undefined) return c.notFound();
    const access = table.get(`${route.method} ${route.path}`);
    if (access !== undefined && 'projectKey' in access) {
      allowOrigin(c);
      if (c.req.method !== 'OPTIONS') await findProjectByKey(db, c);
      return next();
    }
    const { key, user } = await authenticate(db, c);
    throttle?.admit(key.id);
    const needed = getScopes(access);
    if (needed === undefined) throw permissionDenied('This action does not support Personal API Key access');
    const missing = needed.find((scope) => !grants(key.scopes, scope));
    if (missing !== undefined) throw permissionDenied(`API key missing required scope '${missing}'`);
    c.set('key', key);
    c.set('user', user);
    const projectId = /^\/api\/projects\/([^/]+)/.exec(c.req.path)?.[1];
    if (projectId !== undefined) {
      const { project, level } = await findProject(db, key, projectId);
      c.set('project', project);
      c.set('level', level);
    }
    return next();
  };
}

/** Undefined: no key opens the route. */
function getScopes(access: Access | undefined): readonly Scope[] | undefined {
  if (access === undefined || 'public' in access || 'projectKey' in access || 'role' in access)
    return undefined;
  return access.scopes ?? [];
}

async function authenticate(db: Db, c: Context): Promise<{ key: PersonalKey; user: User }> {
  const found = await findToken(c);
  if (found === undefined) {
    throw unauthenticated('not_authenticated', 'Authentication credentials were not provided.');
  }
  const key = await loadPersonalKey(db, found.token);
  const user = key && (await loadUser(db, key.userId));
  if (key !== undefined && user !== undefined) return { key, user };
  throw unauthenticated(
    'authentication_failed',
    `Personal API key found in request ${found.place} is invalid.`,
  );
}

const unauthenticated = (code: string, detail: string) =>
  new ApiError(401, 'authentication_error', code, detail);

/** The header is the contract's place; clients that cannot set one write the key into body or query. */
async function findToken(c: Context): Promise<{ token: string; place: string } | undefined> {
  const header = /^Bearer\s+(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (header !== undefined) return { token: header, place: 'Authorization header' };
  const body = await findInBody(c);
  if (body !== undefined) return { token: body, place: 'body' };
  const query = c.req.query('personal_api_key');
  return query === undefined ? undefined : { token: query, place: 'query string' };
}

/** A body that cannot be read holds no key. Its error is reported only to callers who have one. */
async function findInBody(c: Context): Promise<string | undefined> {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return undefined;
  try {
    const body = await readRequestBody(c);
    const token = isJsonObject(body) ? body['personal_api_key'] : undefined;
    return typeof token === 'string' ? token : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function findProjectByKey(db: Db, c: Context): Promise<Project> {
  const token = c.req.query('token') ?? c.req.query('api_key') ?? '';
  const project = isStorable(token) ? await loadProjectByKey(db, token) : undefined;
  if (project !== undefined) return project;
  throw unauthenticated(
    token === '' ? 'missing_api_key' : 'invalid_api_key',
    'Project API key not provided or invalid. It is in the settings of the project.',
  );
}

/** The project that a personal key may open: by its id, or `@current`. */
export async function findProject(
  db: Db,
  key: PersonalKey,
  id: string,
): Promise<{ project: Project; level: number }> {
  const project =
    id === '@current' ? (await loadProjects(db, key.userId, key.projectIds))[0] : await loadById(db, id);
  if (project === undefined) throw notFound('Project not found.');
  if (key.projectIds !== null && !key.projectIds.includes(project.id)) {
    throw permissionDenied(`API key does not have access to the requested project: ID ${project.id}.`);
  }
  const level = await loadMemberLevel(db, project.organizationId, key.userId);
  if (level === undefined) throw permissionDenied("You don't have access to the project.");
  return { project, level };
}

async function loadById(db: Db, id: string): Promise<Project | undefined> {
  if (!/^\d+$/.test(id)) throw notFound();
  const rowId = parseRowId(id);
  return rowId === undefined ? undefined : loadProject(db, rowId);
}
