import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { ApiEnv } from '../access.ts';
import { answerJson } from '../answer.ts';
import type { Db } from '../database/db.ts';
import { paged, pageQuery, parsePage, renderPage } from '../paging.ts';
import { loadProjects, type Project } from '../projects.ts';
import { addRoute } from '../route.ts';

const projectSchema = z
  .object({
    id: z.int(),
    uuid: z.uuid(),
    organization: z.uuid(),
    name: z.string(),
    api_token: z.string().openapi({ description: 'The project API key, for /capture/ and /batch/.' }),
    created_at: z.string(),
    timezone: z.string(),
  })
  .openapi('Project');

const renderProject = (project: Project): z.infer<typeof projectSchema> => ({
  id: project.id,
  uuid: project.uuid,
  organization: project.organizationId,
  name: project.name,
  api_token: project.projectKey,
  created_at: project.createdAt,
  timezone: 'UTC',
});

export function addProjectRoutes(api: OpenAPIHono<ApiEnv>, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/',
      summary: 'List the projects that the key may see',
      tag: 'Projects',
      query: pageQuery,
      answers: { 200: { description: 'Projects, oldest first.', schema: paged(projectSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query);
      const { userId, projectIds } = c.get('key');
      const projects = await loadProjects(db, userId, projectIds);
      const shown = projects.slice(page.offset, page.offset + page.limit).map(renderProject);
      return answerJson(c, renderPage(c.req.url, page, projects.length, shown));
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/',
      summary: 'Retrieve a project',
      description: '`@current` stands for the first project that the key may see.',
      tag: 'Projects',
      answers: { 200: { description: 'One project.', schema: projectSchema } },
    },
    ({ c }) => answerJson(c, renderProject(c.get('project'))),
  );
}
