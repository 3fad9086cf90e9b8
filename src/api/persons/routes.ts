import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiEnv } from '../access.ts';
import { answerJson } from '../answer.ts';
import type { Db } from '../database/db.ts';
import { invalidInput, notFound } from '../errors.ts';
import { paged, parsePage, renderPage } from '../paging.ts';
import { addRoute } from '../route.ts';
import { renderPerson } from './render-person.ts';
import { personQuery, personSchema } from './schema.ts';
import { loadPerson, loadPersons } from './store.ts';

const tag = 'Persons';

export function addPersonRoutes(api: OpenAPIHono<ApiEnv>, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/persons/',
      summary: 'List persons, newest first',
      tag,
      query: personQuery,
      answers: { 200: { description: 'One page of persons.', schema: paged(personSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query);
      const filter = { distinctId: query.distinct_id, email: query.email, search: query.search };
      const { count, persons } = await loadPersons(db, c.get('project').id, filter, page);
      return answerJson(c, renderPage(c.req.url, page, count, persons.map(renderPerson)));
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/persons/:id/',
      summary: 'Retrieve a person, by integer or uuid',
      tag,
      answers: { 200: { description: 'One person.', schema: personSchema } },
    },
    async ({ c }) => {
      const person = await loadPerson(db, c.get('project').id, parsePersonId(c.req.param('id') ?? ''));
      if (person === undefined) throw notFound('Person not found.');
      return answerJson(c, renderPerson(person));
    },
  );
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
