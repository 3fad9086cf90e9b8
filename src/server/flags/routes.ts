import { z } from '@hono/zod-openapi';
import { parseJson } from '../../lib/json/parse-json.ts';
import { loadUsers } from '../auth/users.ts';
import { loadCohortsById } from '../cohorts/store.ts';
import type { Db, Queryable } from '../database/db.ts';
import { invalidInput, notFound } from '../http/errors.ts';
import { isJsonObject } from '../http/json.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { parseRowId } from '../http/row-id.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute, type Call } from '../routing/route.ts';
import { changeFlag, createFlag, MAX_FLAGS_OF_PROJECT } from './change-flag.ts';
import type { Decider } from './decide/decide.ts';
import { parseDecideRequest } from './decide/request.ts';
import { listCohorts, renderExplanation } from './render-explanation.ts';
import {
  changedFlagSchema,
  explanationSchema,
  type FeatureFlagBody,
  featureFlagSchema,
  newFlagSchema,
  takeoverSchema,
  testSchema,
} from './schema.ts';
import { countFlags, loadFlagById, loadFlagPage, type StoredFlag } from './store.ts';
import { takeOverFlags } from './takeover/take-over.ts';

/** Definitions of feature flags. Decisions are made on /decide (decide/routes.ts). */
const tag = 'Feature flags (beyond the contract)';
const base = '/api/projects/:project_id/feature_flags/';
const params = { id: 'integer' } as const;

interface FlagRouteDeps {
  readonly db: Db;
  readonly decider: Decider;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function addFlagRoutes(api: Api, { db, decider, now }: FlagRouteDeps): void {
  async function answerFlag(
    { c }: Pick<Call<unknown, unknown>, 'c'>,
    id: number,
    status: 200 | 201 = 200,
  ): Promise<Response> {
    const flag = await loadFlagById(db, c.get('project').id, id);
    if (flag === undefined) throw notFound();
    const [body] = await renderFlags(db, [flag]);
    return respondWithJson(c, body, status);
  }

  addRoute(
    api,
    {
      method: 'get',
      path: base,
      scopes: ['feature_flag:read'],
      summary: 'List feature flags',
      tag,
      query: pageQuery,
      responses: {
        200: { description: 'Newest first, without deleted ones.', schema: paged(featureFlagSchema) },
      },
    },
    async ({ c, query }) => {
      const projectId = c.get('project').id;
      const page = parsePage(query, MAX_FLAGS_OF_PROJECT);
      const flags = await renderFlags(db, await loadFlagPage(db, projectId, page));
      return respondWithJson(c, renderPage(getPublicUrl(c), page, await countFlags(db, projectId), flags));
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: base,
      scopes: ['feature_flag:write'],
      summary: 'Make a feature flag',
      description: `A project may have ${MAX_FLAGS_OF_PROJECT}.`,
      tag,
      body: newFlagSchema,
      responses: { 201: { description: 'The flag.', schema: featureFlagSchema } },
    },
    async ({ c, body }) => {
      const context = { projectId: c.get('project').id, userId: c.get('user').id };
      const id = await db.transaction((tx) => createFlag(tx, context, body));
      return answerFlag({ c }, id, 201);
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: `${base}take_over/`,
      scopes: ['feature_flag:write', 'cohort:write'],
      summary: 'Take flags over from another service',
      description:
        'Takes the answer of its `feature_flags/` or `feature_flag/local_evaluation?send_cohorts`. Each flag is for itself: one that cannot be expressed here is reported, and left out.',
      tag,
      query: z.object({ dry_run: z.enum(['true', 'false']).optional() }),
      body: z.record(z.string(), z.unknown()),
      responses: { 200: { description: 'What became of each flag.', schema: takeoverSchema } },
    },
    async ({ c, query, body }) => {
      const context = { projectId: c.get('project').id, userId: c.get('user').id, now: now() };
      return respondWithJson(c, await takeOverFlags(db, context, body, query.dry_run === 'true'));
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: `${base}:id/`,
      scopes: ['feature_flag:read'],
      params,
      summary: 'Retrieve a feature flag',
      tag,
      responses: { 200: { description: 'The flag.', schema: featureFlagSchema } },
    },
    ({ c }) => answerFlag({ c }, parseFlagId(c.req.param('id'))),
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: `${base}:id/`,
      scopes: ['feature_flag:write'],
      params,
      summary: 'Change, switch off, delete (`deleted: true`) or bring back a feature flag',
      tag,
      body: changedFlagSchema,
      responses: { 200: { description: 'The flag.', schema: featureFlagSchema } },
    },
    async ({ c, body }) => {
      const id = parseFlagId(c.req.param('id'));
      const context = { projectId: c.get('project').id, userId: c.get('user').id };
      await db.transaction((tx) => changeFlag(tx, context, id, body));
      return answerFlag({ c }, id);
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: `${base}:key/test/`,
      scopes: ['feature_flag:read', 'person:read'],
      summary: 'Explain what somebody gets of a flag, condition by condition',
      tag,
      body: testSchema,
      responses: { 200: { description: 'The decision and why.', schema: explanationSchema } },
    },
    async ({ c, body }) => {
      const request = parseDecideRequest(body);
      const { distinctId } = request;
      if (distinctId === undefined) throw invalidInput('The distinct id is blank.', 'distinct_id');
      const asked = { ...request, distinctId };
      const why = await decider.explain(c.get('project').projectKey, asked, c.req.param('key') ?? '');
      if (why === undefined) throw notFound('There is no active flag of this key.');
      const cohorts = await loadCohortsById(db, c.get('project').id, listCohorts(why));
      const names = new Map(cohorts.map(({ id, name }) => [id, name]));
      return respondWithJson(c, renderExplanation(why, names));
    },
  );
}

function parseFlagId(text: string | undefined): number {
  const id = parseRowId(text);
  if (id === undefined) throw notFound();
  return id;
}

/** Flags in the service's shape, with the users who made them. */
export async function renderFlags(db: Queryable, flags: readonly StoredFlag[]): Promise<FeatureFlagBody[]> {
  const users = await loadUsers(
    db,
    flags.flatMap(({ createdBy }) => createdBy ?? []),
  );
  return flags.map((flag) => {
    const parsed = parseJson(flag.filters);
    const filters = isJsonObject(parsed) ? { ...parsed } : {};
    return {
      id: flag.id,
      key: flag.key,
      name: flag.name,
      filters,
      active: flag.active,
      deleted: flag.deleted,
      ensure_experience_continuity: flag.keepsValue,
      version: flag.version,
      created_by: users.get(flag.createdBy ?? 0) ?? null,
      created_at: flag.createdAt,
      updated_at: flag.updatedAt,
      ...summarise(filters),
    };
  });
}

/** A simple flag has one condition, which asks for nothing but a share. */
function summarise(
  filters: Record<string, unknown>,
): Pick<FeatureFlagBody, 'is_simple_flag' | 'rollout_percentage'> {
  const groups = Array.isArray(filters['groups']) ? filters['groups'] : [];
  const [only] = groups;
  const properties = isJsonObject(only) ? (only['properties'] ?? []) : [];
  const isSimple =
    groups.length === 1 &&
    Array.isArray(properties) &&
    properties.length === 0 &&
    !isJsonObject(filters['multivariate']);
  const share = isSimple && isJsonObject(only) ? (only['rollout_percentage'] ?? 100) : null;
  return { is_simple_flag: isSimple, rollout_percentage: typeof share === 'number' ? share : null };
}
