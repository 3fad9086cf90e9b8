import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Db } from './database/db.ts';
import { ApiError, notFound, permissionDenied } from './errors.ts';
import { loadPersonalKey, loadProject, loadProjects, type PersonalKey, type Project } from './keys.ts';

/**
 * Who may call what, in this one place: method and path of every project endpoint with the scopes that a
 * personal key needs, all of them. A route that is not listed answers 403 to everybody.
 *
 * `query:read` (event counts, event lists) belongs to endpoints beyond the contract. Listing projects
 * takes any valid key, as the contract sends clients there to find their project's id.
 */
export const ACCESS: Readonly<Record<string, readonly string[]>> = {
  'GET /api/projects/': [],
  'GET /api/projects/:project_id/': [],
  'GET /api/projects/:project_id/persons/': ['person:read'],
  'GET /api/projects/:project_id/persons/:id/': ['person:read'],
  'GET /api/projects/:project_id/event_counts/': ['query:read'],
  'GET /api/projects/:project_id/events/': ['query:read'],
  'GET /api/projects/:project_id/events/ids.ndjson': ['query:read'],
};

export interface ApiEnv {
  Variables: {
    /** Set on every route of ACCESS. */
    key: PersonalKey;
    /** Set on every route below a project. */
    project: Project;
  };
}

/** Checks, in the order clients rely on: key (401), scopes (403), project (404), access to it (403). */
export function createAccessCheck(db: Db): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
    if (route === undefined) return next(); // no such endpoint: 404 or 405 follow
    const key = await authenticate(db, c);
    const needed = ACCESS[`${route.method} ${route.path}`];
    if (needed === undefined) throw permissionDenied('This action does not support Personal API Key access');
    const missing = needed.find((scope) => !grants(key.scopes, scope));
    if (missing !== undefined) throw permissionDenied(`API key missing required scope '${missing}'`);
    c.set('key', key);
    const projectId = /^\/api\/projects\/([^/]+)/.exec(c.req.path)?.[1];
    if (projectId !== undefined) c.set('project', await findProject(db, key, projectId));
    return next();
  };
}

async function authenticate(db: Db, c: Context): Promise<PersonalKey> {
  const token = /^Bearer\s+(\S+)\s*$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (token === undefined) {
    throw new ApiError(
      401,
      'authentication_error',
      'not_authenticated',
      'Authentication credentials were not provided.',
    );
  }
  const key = await loadPersonalKey(db, token);
  if (key !== undefined) return key;
  throw new ApiError(
    401,
    'authentication_error',
    'authentication_failed',
    'Personal API key found in request Authorization header is invalid.',
  );
}

/** `x:write` includes `x:read`, `*` everything. */
export function grants(scopes: readonly string[], needed: string): boolean {
  return (
    scopes.includes('*') || scopes.includes(needed) || scopes.includes(needed.replace(/:read$/, ':write'))
  );
}

async function findProject(db: Db, key: PersonalKey, id: string): Promise<Project> {
  if (id === '@current') {
    const [first] = await loadProjects(db, key);
    if (first === undefined) throw notFound('Project not found.');
    return first;
  }
  if (!/^\d+$/.test(id)) throw notFound();
  const project = Number(id) < 2 ** 31 ? await loadProject(db, Number(id)) : undefined;
  if (project === undefined) throw notFound('Project not found.');
  if (key.projectIds !== null && !key.projectIds.includes(project.id)) {
    throw permissionDenied(`API key does not have access to the requested project: ID ${project.id}.`);
  }
  return project;
}
