import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { ApiEnv } from '../access.ts';
import { answerJson } from '../answer.ts';
import type { Db } from '../database/db.ts';
import { invalidInput, notFound } from '../errors.ts';
import { paged, parsePage, renderPage } from '../paging.ts';
import { renderPerson } from './render-person.ts';
import { personQuery, personSchema } from './schema.ts';
import { loadPerson, loadPersons } from './store.ts';

const project = z.object({ project_id: z.string() });

const listRoute = createRoute({
  method: 'get',
  path: '/api/projects/{project_id}/persons/',
  request: { params: project, query: personQuery },
  responses: {
    200: {
      description: 'Persons, newest first.',
      content: { 'application/json': { schema: paged(personSchema) } },
    },
  },
});

const retrieveRoute = createRoute({
  method: 'get',
  path: '/api/projects/{project_id}/persons/{id}/',
  request: { params: project.extend({ id: z.string().openapi({ description: 'Integer or uuid.' }) }) },
  responses: {
    200: { description: 'One person.', content: { 'application/json': { schema: personSchema } } },
  },
});

export function addPersonRoutes(api: OpenAPIHono<ApiEnv>, db: Db): void {
  api.openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const page = parsePage(query);
    const filter = { distinctId: query.distinct_id, email: query.email, search: query.search };
    const { count, persons } = await loadPersons(db, c.get('project').id, filter, page);
    return answerJson(c, renderPage(c.req.url, page, count, persons.map(renderPerson)));
  });
  api.openapi(retrieveRoute, async (c) => {
    const person = await loadPerson(db, c.get('project').id, parsePersonId(c.req.valid('param').id));
    if (person === undefined) throw notFound('Person not found.');
    return answerJson(c, renderPerson(person));
  });
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function parsePersonId(text: string): { id: number } | { uuid: string } {
  if (UUID.test(text)) return { uuid: text.toLowerCase() };
  if (!/^\d+$/.test(text)) {
    throw invalidInput(
      'The ID provided does not look like a personID. If you are using a distinctId, please use /persons?distinct_id=<x> instead.',
    );
  }
  if (Number(text) >= 2 ** 31) throw notFound('Person not found.');
  return { id: Number(text) };
}
