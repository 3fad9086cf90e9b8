import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { ApiEnv } from '../access.ts';
import { answerJson } from '../answer.ts';
import type { Db } from '../database/db.ts';
import { loadProjects, type Project } from '../keys.ts';
import { paged, pageQuery, parsePage, renderPage } from '../paging.ts';

const projectSchema = z
  .object({
    id: z.number().int(),
    uuid: z.uuid(),
    name: z.string(),
    api_token: z.string().openapi({ description: 'The project API key, for /capture/ and /batch/.' }),
    created_at: z.string(),
    timezone: z.string(),
  })
  .openapi('Project');

const renderProject = (project: Project): z.infer<typeof projectSchema> => ({
  id: project.id,
  uuid: project.uuid,
  name: project.name,
  api_token: project.projectKey,
  created_at: project.createdAt,
  timezone: 'UTC',
});

const listRoute = createRoute({
  method: 'get',
  path: '/api/projects/',
  request: { query: pageQuery },
  responses: {
    200: {
      description: 'Projects that the key may see.',
      content: { 'application/json': { schema: paged(projectSchema) } },
    },
  },
});

const retrieveRoute = createRoute({
  method: 'get',
  path: '/api/projects/{project_id}/',
  request: { params: z.object({ project_id: z.string().openapi({ example: '@current' }) }) },
  responses: {
    200: { description: 'One project.', content: { 'application/json': { schema: projectSchema } } },
  },
});

export function addProjectRoutes(api: OpenAPIHono<ApiEnv>, db: Db): void {
  api.openapi(listRoute, async (c) => {
    const page = parsePage(c.req.valid('query'));
    const projects = await loadProjects(db, c.get('key'));
    const shown = projects.slice(page.offset, page.offset + page.limit).map(renderProject);
    return answerJson(c, renderPage(c.req.url, page, projects.length, shown));
  });
  api.openapi(retrieveRoute, (c) => answerJson(c, renderProject(c.get('project'))));
}
