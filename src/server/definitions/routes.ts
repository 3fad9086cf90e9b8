import type { Context } from 'hono';
import { recordActivity } from '../activity/activity-log.ts';
import type { ApiEnv } from '../auth/access.ts';
import { loadMemberLevel, loadUsers, type User } from '../auth/users.ts';
import type { Db, Queryable } from '../database/db.ts';
import { ApiError, notFound } from '../http/errors.ts';
import { paged, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { isUuid } from '../http/row-id.ts';
import { normaliseTags } from '../http/tags.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import {
  type ChangedDefinition,
  changedDefinitionSchema,
  type DefinitionBody,
  definitionSchema,
  definitionsQuery,
  parseDefinitionsQuery,
} from './schema.ts';
import {
  changeDefinition,
  type DefinitionChange,
  deleteDefinition,
  loadDefinition,
  loadDefinitions,
  type StoredDefinition,
} from './store.ts';

/**
 * The names of events with description, tags, owner and verification. Ingestion creates them; a deleted one
 * is created again by the next event of that name.
 */
const tag = 'Event definitions';
const base = '/api/projects/:project_id/event_definitions/';
const params = { id: 'uuid' } as const;
const MAX_PAGE = 1000;

export function addDefinitionRoutes(api: Api, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: base,
      scopes: ['event_definition:read'],
      summary: 'List event definitions',
      tag,
      query: definitionsQuery,
      responses: { 200: { description: 'One page of definitions.', schema: paged(definitionSchema) } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_PAGE);
      const filter = parseDefinitionsQuery(query);
      const { count, definitions } = await loadDefinitions(db, c.get('project').id, filter, page);
      const shown = await renderAll(db, definitions);
      return respondWithJson(c, renderPage(getPublicUrl(c), page, count, shown));
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: `${base}:id/`,
      scopes: ['event_definition:read'],
      params,
      summary: 'Retrieve an event definition',
      tag,
      responses: { 200: { description: 'One definition.', schema: definitionSchema } },
    },
    async ({ c }) => {
      const definition = await loadDefinition(db, c.get('project').id, parseDefinitionId(c));
      if (definition === undefined) throw notFound();
      return respondWithJson(c, (await renderAll(db, [definition]))[0]);
    },
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: `${base}:id/`,
      scopes: ['event_definition:write'],
      params,
      summary: 'Describe, tag, own or verify an event definition',
      tag,
      body: changedDefinitionSchema,
      responses: { 200: { description: 'The definition.', schema: definitionSchema } },
    },
    async ({ c, body }) => {
      const [project, user, id] = [c.get('project'), c.get('user'), parseDefinitionId(c)];
      const change = await parseChange(db, project.organizationId, body);
      const definition = await db.transaction(async (tx) => {
        const changed = await changeDefinition(tx, project.id, id, change, user.id);
        if (changed === undefined) throw notFound();
        await logActivity(tx, project.id, user, { activity: 'changed', id, name: changed.name });
        return changed;
      });
      return respondWithJson(c, (await renderAll(db, [definition]))[0]);
    },
  );
  addRoute(
    api,
    {
      method: 'delete',
      path: `${base}:id/`,
      scopes: ['event_definition:write'],
      params,
      summary: 'Delete an event definition; the next event of the name defines it again',
      tag,
      responses: { 204: { description: 'Gone. Its events stay.' } },
    },
    async ({ c }) => {
      const [project, id] = [c.get('project'), parseDefinitionId(c)];
      await db.transaction(async (tx) => {
        const name = await deleteDefinition(tx, project.id, id);
        if (name === undefined) throw notFound();
        await logActivity(tx, project.id, c.get('user'), { activity: 'deleted', id, name });
      });
      return c.body(null, 204);
    },
  );
}

function parseDefinitionId(c: Context<ApiEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound();
  return id;
}

async function parseChange(
  db: Db,
  organizationId: string,
  body: ChangedDefinition,
): Promise<DefinitionChange> {
  const { description, tags, owner, verified, post_to_slack: postToSlack } = body;
  if (typeof owner === 'number' && (await loadMemberLevel(db, organizationId, owner)) === undefined) {
    const detail = `Invalid pk "${owner}" - object does not exist.`;
    throw new ApiError(400, 'validation_error', 'does_not_exist', detail, 'owner');
  }
  return {
    ...(description === undefined ? {} : { description: description ?? '' }),
    ...(tags === undefined ? {} : { tags: normaliseTags(tags) }),
    ...(owner === undefined ? {} : { ownerId: owner }),
    ...(verified === undefined ? {} : { verified }),
    ...(postToSlack === undefined ? {} : { postToSlack }),
  };
}

function logActivity(
  tx: Queryable,
  projectId: number,
  user: User,
  { activity, id, name }: { activity: string; id: string; name: string },
): Promise<void> {
  const detail = { name, changes: null };
  return recordActivity(tx, {
    projectId,
    userId: user.id,
    scope: 'EventDefinition',
    itemId: id,
    activity,
    detail,
  });
}

async function renderAll(db: Db, definitions: readonly StoredDefinition[]): Promise<DefinitionBody[]> {
  const named = definitions.flatMap((each) => [each.ownerId, each.verifiedBy, each.updatedBy]);
  const users = await loadUsers(
    db,
    named.filter((id) => id !== null),
  );
  const user = (id: number | null) => (id === null ? null : (users.get(id) ?? null));
  return definitions.map((each) => ({
    id: each.id,
    name: each.name,
    owner: user(each.ownerId),
    description: each.description,
    tags: [...each.tags],
    created_at: each.createdAt,
    created_by: null,
    updated_at: each.updatedAt,
    updated_by: user(each.updatedBy),
    last_seen_at: each.lastSeenAt,
    last_updated_at: each.updatedAt,
    verified: each.verifiedAt !== null,
    verified_at: each.verifiedAt,
    verified_by: user(each.verifiedBy),
    is_action: false,
    action_id: null,
    is_calculating: false,
    last_calculated_at: null,
    post_to_slack: each.postToSlack,
  }));
}
