import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { IANAZone } from 'luxon';
import type { Logger } from 'pino';
import type { ApiEnv } from '../auth/access.ts';
import {
  changeProject,
  createProjectKey,
  ensureProject,
  loadProjects,
  type Project,
} from '../auth/projects.ts';
import { MEMBER_LEVEL } from '../auth/users.ts';
import type { Db } from '../database/db.ts';
import { invalidInput, notFound, permissionDenied } from '../http/errors.ts';
import { nameField } from '../http/fields.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { loadMemberships, requireAdministered } from './memberships.ts';

const projectSchema = z
  .object({
    id: z.int(),
    uuid: z.uuid(),
    organization: z.uuid(),
    name: z.string(),
    api_token: z.string().openapi({ description: 'The project API key, for /capture/ and /batch/.' }),
    created_at: z.string(),
    timezone: z.string().openapi({ description: 'Where its days begin: an IANA name.' }),
    week_start_day: z.int().openapi({ description: 'Where its weeks begin: 0 is Sunday, 1 Monday.' }),
  })
  .openapi('Project');

const renderProject = (project: Project): z.infer<typeof projectSchema> => ({
  id: project.id,
  uuid: project.uuid,
  organization: project.organizationId,
  name: project.name,
  api_token: project.projectKey,
  created_at: project.createdAt,
  timezone: project.timeZone,
  week_start_day: project.weekStartDay,
});

/** Projects of one page. */
const MAX_PAGE = 1000;

const newProjectSchema = z.object({
  name: nameField(),
  organization: z
    .uuid()
    .optional()
    .openapi({ description: 'Default: the first organization of the caller.' }),
});

const changedProjectSchema = z.object({
  name: nameField().optional(),
  timezone: z
    .string()
    .refine((name) => IANAZone.isValidZone(name), 'Must be an IANA time zone, such as Europe/Vienna.')
    .optional()
    .openapi({ description: 'IANA name. Insights and lists of persons count by its days.' }),
  week_start_day: z
    .union([z.literal(0), z.literal(1)])
    .optional()
    .openapi({ description: '0 is Sunday (default), 1 Monday.' }),
});

interface ProjectDeps {
  readonly db: Db;
  readonly log: Logger;
  readonly fixedProjectKey?: string | undefined;
}

export function addProjectRoutes(api: Api, { db, log, fixedProjectKey }: ProjectDeps): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/',
      anyKey: 'clients find the id of their project here',
      summary: 'List the projects that the key may see',
      tag: 'Projects',
      query: pageQuery,
      responses: { 200: { description: 'Projects, oldest first.', schema: paged(projectSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_PAGE);
      const { userId, projectIds } = c.get('key');
      const projects = await loadProjects(db, userId, projectIds);
      const results = projects.slice(page.offset, page.offset + page.limit).map(renderProject);
      return respondWithJson(c, renderPage(getPublicUrl(c), page, projects.length, results));
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: '/api/projects/',
      scopes: ['*'],
      summary: 'Create a project (beyond the contract)',
      description: 'The response contains the project API key, which events are ingested with.',
      tag: 'Projects',
      body: newProjectSchema,
      responses: { 201: { description: 'The project.', schema: projectSchema } },
    },
    async ({ c, body }) => {
      const { key, user } = c.var;
      const own = (await loadMemberships(db, [user.id])).get(user.id) ?? [];
      const { organizationId } = requireAdministered(key, own, body.organization);
      const projectKey = createProjectKey();
      const project = await ensureProject(db, { name: body.name, projectKey, organizationId });
      log.info({ project: project.id, by: key.id }, 'project created');
      return respondWithJson(c, renderProject(project), 201);
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/',
      anyKey: 'clients find the id of their project here',
      summary: 'Retrieve a project',
      description: '`@current` stands for the first project that the key may see.',
      tag: 'Projects',
      responses: { 200: { description: 'One project.', schema: projectSchema } },
    },
    ({ c }) => respondWithJson(c, renderProject(c.get('project'))),
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: '/api/projects/:project_id/',
      scopes: ['*'],
      summary: 'Rename a project, or change its calendar (beyond the contract)',
      tag: 'Projects',
      preHandler: async (c) => requireProjectAdministrator(c),
      body: changedProjectSchema,
      responses: { 200: { description: 'The project.', schema: projectSchema } },
    },
    async ({ c, body }) => {
      const { id } = c.get('project');
      const project = await changeProject(db, id, {
        name: body.name,
        timeZone: body.timezone,
        weekStartDay: body.week_start_day,
      });
      if (project === undefined) throw notFound();
      log.info({ project: id, by: c.get('key').id }, 'project changed');
      return respondWithJson(c, renderProject(project));
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: '/api/projects/:project_id/reset_token/',
      scopes: ['*'],
      summary: 'Replace the key of a project (beyond the contract)',
      description: 'The old key ingests nothing any more, from the next request on.',
      tag: 'Projects',
      preHandler: async (c) => requireProjectAdministrator(c),
      responses: { 200: { description: 'The project with its new key.', schema: projectSchema } },
    },
    async ({ c }) => {
      const { id, projectKey } = c.get('project');
      if (projectKey === fixedProjectKey) {
        throw invalidInput(
          'This is the key of keys.json in the data folder, which every start makes valid. Create another project and send there instead.',
        );
      }
      const project = await changeProject(db, id, { projectKey: createProjectKey() });
      if (project === undefined) throw notFound();
      log.info({ project: id, by: c.get('key').id }, 'project key replaced');
      return respondWithJson(c, renderProject(project));
    },
  );
}

function requireProjectAdministrator(c: Context<ApiEnv>): void {
  if (c.get('level') >= MEMBER_LEVEL.admin) return;
  throw permissionDenied('Your level in the organization is insufficient: it takes an administrator.');
}
