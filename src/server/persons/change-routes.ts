import type { Context } from 'hono';
import { getMessage } from '../../lib/errors.ts';
import { isExactNumber } from '../../lib/json/exact-number.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import type { ApiEnv } from '../auth/access.ts';
import { FORMS, formQuery, respondNegotiated } from '../http/content-negotiation.ts';
import { parseError } from '../http/errors.ts';
import { isStorableNumber, parseSafely } from '../http/safe-json.ts';
import { validated } from '../http/validation-error.ts';
import { type Api, addRoute } from '../routing/route.ts';
import {
  type ChangeDeps,
  type ChangeTarget,
  deleteProperty,
  removePerson,
  setProperties,
  splitPerson,
} from './change-person.ts';
import { findPerson } from './find-person.ts';
import { parsePersonId } from './person-id.ts';
import { renderPerson } from './render-person.ts';
import {
  changedPersonSchema,
  deletePropertyBody,
  deletePropertyQuery,
  deleteQuery,
  personSchema,
  propertiesBody,
  propertyDeletion,
  propertyUpdate,
  splitBody,
  updatePropertyBody,
  updatePropertyQuery,
} from './schema.ts';
import type { StoredPerson } from './store.ts';

const path = '/api/projects/:project_id/persons/:id/';
const changed = { 200: { description: 'Done.', schema: changedPersonSchema, contentTypes: FORMS } };

export function addChangeRoutes(api: Api, deps: ChangeDeps): void {
  const common = {
    tag: 'Persons',
    scopes: ['person:write'],
    params: { id: 'integer' },
    preHandler: (c: Context<ApiEnv>) => findPerson(deps.db, c),
  } as const;
  addRoute(
    api,
    {
      ...common,
      method: 'patch',
      path,
      summary: 'Set properties of a person',
      description:
        'Captures a `$set` event, unless no property is given. Properties that are not named stay; all other ' +
        'fields are ignored.',
      query: formQuery,
      body: propertiesBody,
      responses: { 200: { description: 'The person.', schema: personSchema, contentTypes: FORMS } },
    },
    async (call) => {
      const person = await setProperties(deps, getTarget(call.c), call.body.properties);
      return respondNegotiated(call, renderPerson(person));
    },
  );
  addRoute(
    api,
    {
      ...common,
      method: 'post',
      path: `${path}update_property/`,
      summary: 'Set one property of a person',
      description: 'Captures a `$set` event. The body goes before the query.',
      query: updatePropertyQuery,
      body: updatePropertyBody,
      responses: changed,
    },
    async (call) => {
      const { query, body } = call;
      const given = { key: query.key, value: readQueryValue(query.value), ...body };
      const { key, value } = validated(propertyUpdate, given);
      const person = await setProperties(deps, getTarget(call.c), { [key]: value });
      return respondNegotiated(call, renderChanged(person));
    },
  );
  addRoute(
    api,
    {
      ...common,
      method: 'post',
      path: `${path}delete_property/`,
      summary: 'Remove one property of a person',
      description: 'Captures a `$delete_person_property` event. The body goes before the query.',
      query: deletePropertyQuery,
      body: deletePropertyBody,
      responses: changed,
    },
    async (call) => {
      const { $unset } = validated(propertyDeletion, { $unset: call.query.$unset, ...call.body });
      const person = await deleteProperty(deps, getTarget(call.c), $unset);
      return respondNegotiated(call, renderChanged(person));
    },
  );
  addRoute(
    api,
    {
      ...common,
      method: 'post',
      path: `${path}split/`,
      summary: 'Give every other distinct id a person of its own',
      description:
        'Events follow their distinct ids. Without `main_distinct_id` the person keeps the first of its ids and ' +
        'loses its properties. Nothing changes where there is a single id.',
      query: formQuery,
      body: splitBody,
      responses: changed,
    },
    async (call) => {
      const main = call.body.main_distinct_id || undefined;
      return respondNegotiated(call, renderChanged(await splitPerson(deps, getTarget(call.c), main)));
    },
  );
  addRoute(
    api,
    {
      ...common,
      method: 'delete',
      path,
      summary: 'Delete a person',
      description:
        'The person and their ids go at once. With `delete_events` the events of these ids go with the next run ' +
        'of the deletions; without it they stay.',
      query: deleteQuery,
      responses: { 204: { description: 'Deleted.' } },
    },
    async ({ c, query }) => {
      await removePerson(deps, getTarget(c), query.delete_events === true);
      return c.body(null, 204);
    },
  );
}

function getTarget(c: Context<ApiEnv>): ChangeTarget {
  const person = parsePersonId(c.req.param('id') ?? '');
  return { projectId: c.get('project').id, userId: c.get('user').id, person };
}

const renderChanged = (person: StoredPerson) => ({ ...renderPerson(person), success: true });

/**
 * A property's value from the text of a query: JSON, as the service's document allows any value there;
 * anything else is text. Quotes turn a number into text.
 */
function readQueryValue(text: string | undefined): unknown {
  if (text === undefined || !isJson(text)) return text;
  try {
    return parseSafely(text);
  } catch (error) {
    throw parseError(getMessage(error));
  }
}

/** In the strict sense: `NaN`, which bodies may hold for null, is a text here, and so is `12e4567`. */
function isJson(text: string): boolean {
  try {
    const value = parseJson(text);
    return !isExactNumber(value) || isStorableNumber(value);
  } catch {
    return false;
  }
}
