import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { loadProject, loadProjects, type Project } from '../accounts/projects.ts';
import { loadMemberLevel, loadUser, type User } from '../accounts/users.ts';
import type { Db } from '../database/db.ts';
import { ApiError, notFound, permissionDenied } from '../http/errors.ts';
import { isJsonObject } from '../http/json.ts';
import { readRequestBody } from '../http/request-body.ts';
import { parseRowId } from '../http/row-id.ts';
import { loadPersonalKey, type PersonalKey } from './keys.ts';
import { grants, type Scope } from './scopes.ts';
import type { Throttle } from './throttle.ts';

/**
 * Who may call what, in this one place: method and path of every project endpoint with the scopes that a
 * personal key needs, all of them. A route that is not listed answers 403 to everybody.
 *
 * `query:read` (event counts, event lists) belongs to endpoints beyond the contract. Listing projects
 * takes any valid key, as the contract sends clients there to find their project's id. Keys, users and
 * projects are managed with `*` alone: a key never hands out more than it has.
 */
export const ACCESS: Readonly<Record<string, readonly Scope[]>> = {
  'GET /api/projects/': [],
  'GET /api/projects/:project_id/': [],
  'POST /api/projects/': ['*'],
  'GET /api/personal_api_keys/': ['*'],
  'POST /api/personal_api_keys/': ['*'],
  'GET /api/personal_api_keys/@current/': [],
  'DELETE /api/personal_api_keys/:id/': ['*'],
  'GET /api/users/': ['*'],
  'POST /api/users/': ['*'],
  'GET /api/users/@me/': [],
  'GET /api/organizations/:organization_id/members/': ['*'],
  'PATCH /api/organizations/:organization_id/members/:user__uuid/': ['*'],
  'GET /api/projects/:project_id/dashboards/': ['dashboard:read'],
  'POST /api/projects/:project_id/dashboards/': ['dashboard:write'],
  'GET /api/projects/:project_id/dashboards/:id/': ['dashboard:read'],
  'PATCH /api/projects/:project_id/dashboards/:id/': ['dashboard:write'],
  'DELETE /api/projects/:project_id/dashboards/:id/': ['dashboard:write'],
  'PATCH /api/projects/:project_id/dashboards/:id/move_tile/': ['dashboard:write'],
  'POST /api/projects/:project_id/dashboards/create_from_template_json/': ['dashboard:write'],
  'GET /api/projects/:project_id/dashboards/:dashboard_id/collaborators/': ['dashboard:read'],
  'POST /api/projects/:project_id/dashboards/:dashboard_id/collaborators/': ['dashboard:write'],
  'DELETE /api/projects/:project_id/dashboards/:dashboard_id/collaborators/:user__uuid/': ['dashboard:write'],
  'GET /api/projects/:project_id/dashboards/:dashboard_id/sharing/': ['sharing_configuration:read'],
  'PATCH /api/projects/:project_id/dashboards/:dashboard_id/sharing/': ['sharing_configuration:write'],
  'GET /api/projects/:project_id/insights/': ['insight:read'],
  'POST /api/projects/:project_id/insights/': ['insight:write'],
  'GET /api/projects/:project_id/insights/:id/': ['insight:read'],
  'PATCH /api/projects/:project_id/insights/:id/': ['insight:write'],
  'GET /api/projects/:project_id/persons/': ['person:read'],
  'POST /api/projects/:project_id/persons/': ['person:write'],
  'GET /api/projects/:project_id/persons.csv': ['person:read'],
  'GET /api/projects/:project_id/persons/activity/': ['activity_log:read'],
  'GET /api/projects/:project_id/persons/cohorts/': ['person:read', 'cohort:read'],
  'GET /api/projects/:project_id/persons/values/': ['person:read'],
  'GET /api/projects/:project_id/persons/:id/': ['person:read'],
  'PATCH /api/projects/:project_id/persons/:id/': ['person:write'],
  'DELETE /api/projects/:project_id/persons/:id/': ['person:write'],
  'GET /api/projects/:project_id/persons/:id/activity/': ['activity_log:read'],
  'POST /api/projects/:project_id/persons/:id/delete_property/': ['person:write'],
  'POST /api/projects/:project_id/persons/:id/split/': ['person:write'],
  'POST /api/projects/:project_id/persons/:id/update_property/': ['person:write'],
  'GET /api/projects/:project_id/event_definitions/': ['event_definition:read'],
  'GET /api/projects/:project_id/event_definitions/:id/': ['event_definition:read'],
  'PATCH /api/projects/:project_id/event_definitions/:id/': ['event_definition:write'],
  'DELETE /api/projects/:project_id/event_definitions/:id/': ['event_definition:write'],
  'GET /api/projects/:project_id/cohorts/': ['cohort:read'],
  'POST /api/projects/:project_id/cohorts/': ['cohort:write'],
  'GET /api/projects/:project_id/cohorts/:id/': ['cohort:read'],
  'PATCH /api/projects/:project_id/cohorts/:id/': ['cohort:write'],
  'PATCH /api/projects/:project_id/cohorts/:id/add_persons_to_static_cohort/': ['cohort:write'],
  'PATCH /api/projects/:project_id/cohorts/:id/remove_persons_from_static_cohort/': ['cohort:write'],
  'GET /api/projects/:project_id/event_counts/': ['query:read'],
  'GET /api/projects/:project_id/events/': ['query:read'],
  'GET /api/projects/:project_id/events/ids.ndjson': ['query:read'],
  'GET /api/deletions/': ['*'],
  'POST /api/deletions/run/': ['*'],
  'GET /api/deletions/run/:job_id/': ['*'],
};

/**
 * The other half: everything that answers without a personal key, by how its path begins, with what opens
 * it. A route that begins with neither `/api/` nor one of these fails a test.
 */
export const PUBLIC_PATHS: Readonly<Record<string, string>> = {
  '/batch/': 'the project key in the body',
  '/capture/': 'the project key in the body',
  '/e/': 'the project key in the body',
  '/engage/': 'the project key in the body',
  '/i/v0/e/': 'the project key in the body',
  '/track/': 'the project key in the body',
  '/shared/': 'the access token of a dashboard that is shared',
  '/embedded/': 'the access token of a dashboard that is shared',
  '/docs': 'open: describes the API',
  '/openapi.json': 'open: describes the API',
  '/healthz': 'open: says whether the API is well',
};

export interface ApiEnv {
  Variables: {
    /** Set on every route of ACCESS. */
    key: PersonalKey;
    /** The user whose key it is. Set on every route of ACCESS. */
    user: User;
    /** Set on every route below a project. */
    project: Project;
    /** Level of the user in the project's organisation (users.ts). Set on every route below a project. */
    level: number;
    /** Set on every route below `/api/` (address.ts). */
    publicUrl: string | undefined;
  };
}

/**
 * Checks, in the order clients rely on: key (401), limit (429), scopes (403), project (404), membership and
 * access to it (403). What the table could not name, as a route for all methods, is never reached.
 */
export function createAccessCheck(db: Db, throttle: Throttle | undefined): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
    if (route === undefined) return c.notFound();
    const { key, user } = await authenticate(db, c);
    throttle?.admit(key.id);
    const needed = ACCESS[`${route.method} ${route.path}`];
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

/** A body that cannot be read holds no key; what is wrong with it is told to those who have one. */
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

async function findProject(
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
