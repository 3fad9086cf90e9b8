import { parseJson } from '../../lib/json/parse-json.ts';
import { loadUsers } from '../auth/users.ts';
import type { Db, Queryable } from '../database/db.ts';
import { notFound } from '../http/errors.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { parseRowId } from '../http/row-id.ts';
import { URL_MATCHINGS } from '../query/definitions/action-definition.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute, type Call } from '../routing/route.ts';
import { type ChangeContext, changeAction, createAction, MAX_ACTIONS_OF_PROJECT } from './change-action.ts';
import { type ActionBody, actionSchema, changedActionSchema, newActionSchema } from './schema.ts';
import { countActions, loadAction, loadActionPage, type StoredAction } from './store.ts';

const tag = 'Actions (beyond the contract)';
const base = '/api/projects/:project_id/actions/';
const params = { id: 'integer' } as const;

interface ActionDeps {
  readonly db: Db;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type Context = Call<unknown, unknown>['c'];

/** Actions: saved groups of conditions on events, which insights and cohorts name by id. */
export function addActionRoutes(api: Api, { db, now }: ActionDeps): void {
  const toContext = (c: Context): ChangeContext => ({
    projectId: c.get('project').id,
    userId: c.get('user').id,
    now: now(),
  });
  async function answer(c: Context, id: number, status: 200 | 201 = 200): Promise<Response> {
    const projectId = c.get('project').id;
    const action = await loadAction(db, projectId, id);
    const [body] = await renderActions(db, projectId, action === undefined ? [] : [action]);
    if (body === undefined) throw notFound();
    return respondWithJson(c, body, status);
  }

  addRoute(
    api,
    {
      method: 'get',
      path: base,
      scopes: ['action:read'],
      summary: 'List actions',
      tag,
      query: pageQuery,
      responses: { 200: { description: 'Newest first, without deleted ones.', schema: paged(actionSchema) } },
    },
    async ({ c, query }) => {
      const projectId = c.get('project').id;
      const page = parsePage(query, MAX_ACTIONS_OF_PROJECT);
      const actions = await renderActions(db, projectId, await loadActionPage(db, projectId, page));
      return respondWithJson(
        c,
        renderPage(getPublicUrl(c), page, await countActions(db, projectId), actions),
      );
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: base,
      scopes: ['action:write'],
      summary: 'Make an action',
      description: `Insights name it by its id. A project may have ${MAX_ACTIONS_OF_PROJECT}.`,
      tag,
      body: newActionSchema,
      responses: { 201: { description: 'The action.', schema: actionSchema } },
    },
    async ({ c, body }) => answer(c, await createAction(db, toContext(c), body), 201),
  );
  addRoute(
    api,
    {
      method: 'get',
      path: `${base}:id/`,
      scopes: ['action:read'],
      params,
      summary: 'Retrieve an action',
      tag,
      responses: { 200: { description: 'The action.', schema: actionSchema } },
    },
    async ({ c }) => {
      const action = await loadAction(db, c.get('project').id, parseActionId(c.req.param('id')));
      if (action === undefined || action.deleted) throw notFound();
      return answer(c, action.id);
    },
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: `${base}:id/`,
      scopes: ['action:write'],
      params,
      summary: 'Change, delete (`deleted: true`) or bring back an action',
      tag,
      body: changedActionSchema,
      responses: { 200: { description: 'The action.', schema: actionSchema } },
    },
    async ({ c, body }) => {
      const id = parseActionId(c.req.param('id'));
      await changeAction(db, toContext(c), id, body);
      return answer(c, id);
    },
  );
}

function parseActionId(text: string | undefined): number {
  const id = parseRowId(text);
  if (id === undefined) throw notFound();
  return id;
}

/** Actions in the service's shape, with the users who made them. */
async function renderActions(
  db: Queryable,
  projectId: number,
  actions: readonly StoredAction[],
): Promise<ActionBody[]> {
  const users = await loadUsers(
    db,
    actions.flatMap(({ createdBy }) => createdBy ?? []),
  );
  return actions.map(({ id, name, description, tags, steps, deleted, createdBy, createdAt }) => {
    const list = parseJson(steps);
    return {
      id,
      name,
      description,
      tags: [...tags],
      steps: Array.isArray(list) ? list.filter(isJsonObject).map(renderStep) : [],
      created_at: createdAt,
      created_by: users.get(createdBy ?? 0) ?? null,
      deleted,
      is_calculating: false,
      last_calculated_at: createdAt,
      team_id: projectId,
      is_action: true,
      post_to_slack: false,
      slack_message_format: '',
    };
  });
}

function renderStep({
  event,
  url,
  url_matching: matching,
  properties,
}: JsonObject): ActionBody['steps'][number] {
  return {
    event: typeof event === 'string' ? event : null,
    url: typeof url === 'string' ? url : null,
    url_matching: URL_MATCHINGS.find((known) => known === matching) ?? 'contains',
    properties: Array.isArray(properties) ? properties : [properties],
    selector: null,
    tag_name: null,
    text: null,
    text_matching: null,
    href: null,
    href_matching: null,
  };
}
