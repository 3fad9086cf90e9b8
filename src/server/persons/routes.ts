import { z } from '@hono/zod-openapi';
import { parseJson } from '../../lib/json/parse-json.ts';
import { FORMS, formQuery, respondNegotiated } from '../http/content-negotiation.ts';
import { ApiError } from '../http/errors.ts';
import { isJsonObject, toText } from '../http/json.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { addActivityRoutes } from './activity-routes.ts';
import type { ChangeDeps } from './change-person.ts';
import { addChangeRoutes } from './change-routes.ts';
import { findPerson } from './find-person.ts';
import { addListRoutes } from './list-routes.ts';
import { renderPerson } from './render-person.ts';
import { personSchema, valuesQuery } from './schema.ts';
import { loadTopValues, type ValueCount } from './value-store.ts';

/**
 * Persons: reading them, changing and deleting them one by one, and the log of these changes. Only events
 * create persons.
 */
const tag = 'Persons';
const base = '/api/projects/:project_id/persons/';

/** Fixed paths come before `:id`, which would take them for a person. */
export function addPersonRoutes(api: Api, deps: ChangeDeps): void {
  const { db } = deps;
  addListRoutes(api, deps);
  addRoute(
    api,
    {
      method: 'get',
      path: `${base}values/`,
      scopes: ['person:read'],
      summary: 'List the most frequent values of a property',
      tag,
      query: valuesQuery,
      responses: {
        200: {
          description: 'Up to twenty, with how many persons have each.',
          schema: z.array(z.object({ name: z.string(), count: z.int() })),
          contentTypes: FORMS,
        },
      },
    },
    async (call) => {
      const { key, value } = call.query;
      const project = call.c.get('project').id;
      const values = key ? await loadTopValues(db, project, key, value) : [];
      return respondNegotiated(call, values.map(renderValue));
    },
  );
  addActivityRoutes(api, db);
  addRoute(
    api,
    {
      method: 'get',
      path: `${base}:id/`,
      scopes: ['person:read'],
      params: { id: 'integer' },
      summary: 'Retrieve a person, by integer or uuid',
      tag,
      query: formQuery,
      responses: { 200: { description: 'One person.', schema: personSchema, contentTypes: FORMS } },
    },
    async (call) => respondNegotiated(call, renderPerson(await findPerson(db, call.c))),
  );
  addChangeRoutes(api, deps);
  addRoute(
    api,
    {
      method: 'post',
      path: base,
      scopes: ['person:write'],
      summary: 'Not possible: persons come from events',
      tag,
      responses: { 405: { description: 'Always.' } },
    },
    ({ c }) => {
      c.header('Allow', 'GET');
      throw new ApiError(
        405,
        'invalid_request',
        'method_not_allowed',
        'Method "POST" not allowed. Persons are created by events: send an $identify event to /batch/ or /capture/.',
      );
    },
  );
}

/** Text of a value as the service writes it: containers as JSON with sorted keys and a space after each mark. */
function renderValue({ value, isContainer, count }: ValueCount): { name: string; count: number } {
  return { name: isContainer ? sortedJson(parseJson(value)) : value, count };
}

function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(', ')}]`;
  if (!isJsonObject(value)) return typeof value === 'string' ? JSON.stringify(value) : toText(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}: ${sortedJson(inner)}`).join(', ')}}`;
}
