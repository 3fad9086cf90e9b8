import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { parseJson } from '../../lib/json/parse-json.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { findProject } from '../auth/access.ts';
import { loadProjectByKey } from '../auth/projects.ts';
import { unknownProjectKey } from '../capture/refusal.ts';
import type { Db } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { allowOrigin } from '../http/cors.ts';
import { notFound } from '../http/errors.ts';
import { isJsonObject } from '../http/json.ts';
import { respondWithJson } from '../http/response.ts';
import { type CohortDefinition, cohortIdsIn } from '../query/definitions/cohort-definition.ts';
import { loadAllCohorts } from '../query/definitions/cohort-store.ts';
import { type Api, addProjectKeyRoute, addPublicRoute, addRoute } from '../routing/route.ts';
import { renderRemoteConfig } from './decide/response.ts';
import { readAll } from './project-flags.ts';
import { renderFlags } from './routes.ts';
import { loadFlagByKey, loadFlags, type StoredFlag } from './store.ts';

const tag = 'Feature flags (beyond the contract)';

/** What clients ask for beside decisions: definitions to decide by themselves, configuration, empty lists. */
export function addFlagClientRoutes(api: Api, db: Db): void {
  addLocalEvaluation(api, db);
  addRemotePayload(api, db);
  addRemoteConfig(api, db);
  const token = 'the project key in the query';
  addProjectKeyRoute(api, '/api/early_access_features/', token, (c) => c.json({ earlyAccessFeatures: [] }));
  addProjectKeyRoute(api, '/api/surveys/', token, (c) => c.json({ surveys: [] }));
  addProjectKeyRoute(api, '/api/web_experiments/', token, (c) => c.json({ experiments: [] }));
}

/** Servers that decide by themselves read everything that decisions need, and ask again every few seconds. */
function addLocalEvaluation(api: Api, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/feature_flag/local_evaluation/',
      scopes: ['feature_flag:read'],
      summary: 'Definitions for clients that decide by themselves',
      description: 'Answers 304 where `If-None-Match` names what the client has.',
      tag,
      query: z.object({
        token: z
          .string()
          .optional()
          .openapi({ description: 'The project key. Left out: the first project.' }),
        send_cohorts: z.string().optional().openapi({ description: 'Given: cohorts come along.' }),
      }),
      responses: {
        200: {
          description: 'Flags, types of groups and cohorts.',
          schema: z.record(z.string(), z.unknown()),
        },
        304: { description: 'Nothing has changed.' },
      },
    },
    async ({ c, query }) => {
      const projectId = await findAskedProject(db, c, query.token);
      const text = stringifyJson(await loadDefinitions(db, projectId, query.send_cohorts !== undefined));
      const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 32)}"`;
      c.header('ETag', etag);
      c.header('Cache-Control', 'private, must-revalidate');
      if (listTags(c.req.header('if-none-match')).includes(etag)) return c.body(null, 304);
      return c.body(text, 200, { 'content-type': 'application/json' });
    },
  );
}

const listTags = (header = ''): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

async function findAskedProject(db: Db, c: Context, token: string | undefined): Promise<number> {
  const asked = token === undefined ? undefined : await loadProjectByKey(db, token);
  if (token !== undefined && asked === undefined) throw notFound('Project not found.');
  const { project } = await findProject(
    db,
    c.get('key'),
    asked === undefined ? '@current' : String(asked.id),
  );
  return project.id;
}

async function loadDefinitions(db: Db, projectId: number, withCohorts: boolean): Promise<object> {
  const stored = await loadFlags(db, projectId);
  const flags = await renderFlags(db, stored);
  const types = await runSql<{ name: string; index: number }>(
    db,
    sql`select group_type as name, index from group_types where project_id = ${projectId}::integer order by index`,
  );
  return {
    flags: flags.map(
      ({ id, key, name, filters, deleted, active, ensure_experience_continuity, version }) => ({
        id,
        team_id: projectId,
        name,
        key,
        filters,
        deleted,
        active,
        ensure_experience_continuity,
        version,
      }),
    ),
    group_type_mapping: Object.fromEntries(types.map(({ name, index }) => [String(index), name])),
    cohorts: withCohorts ? await loadCohortProperties(db, projectId, stored) : {},
  };
}

/** Of dynamic cohorts: who is in a static one is known here alone. */
async function loadCohortProperties(
  db: Db,
  projectId: number,
  stored: readonly StoredFlag[],
): Promise<object> {
  const all = await loadAllCohorts(db, projectId);
  const cohorts = new Map<number, CohortDefinition>();
  const filters = readAll(stored).flags.flatMap(({ conditions }) => conditions.map(({ filter }) => filter));
  for (let wanted = filters.flatMap(cohortIdsIn); wanted.length > 0; ) {
    const added = [...new Set(wanted)].flatMap((id) => (cohorts.has(id) ? [] : (all.get(id) ?? [])));
    for (const cohort of added) cohorts.set(cohort.id, cohort);
    wanted = added.flatMap(({ filter }) => cohortIdsIn(filter));
  }
  return Object.fromEntries(
    [...cohorts.values()]
      .filter(({ isStatic, properties }) => !isStatic && isJsonObject(properties))
      .map(({ id, properties }) => [String(id), properties]),
  );
}

/** The payload of a flag that nobody is asked about: configuration that a server reads by key. */
function addRemotePayload(api: Api, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/feature_flags/:key/remote_config/',
      scopes: ['feature_flag:read'],
      summary: 'The payload of a flag, as configuration',
      tag,
      query: z.object({ token: z.string().optional() }),
      responses: { 200: { description: 'The payload as it was written.', schema: z.unknown() } },
    },
    async ({ c }) => {
      const flag = await loadFlagByKey(db, c.get('project').id, c.req.param('key') ?? '');
      if (flag === undefined) throw notFound();
      const filters = parseJson(flag.filters);
      const payloads = isJsonObject(filters) ? filters['payloads'] : undefined;
      return respondWithJson(c, isJsonObject(payloads) ? (payloads['true'] ?? null) : null);
    },
  );
}

/** What newer clients in browsers load first. */
function addRemoteConfig(api: Api, db: Db): void {
  const form = { methods: ['GET', 'OPTIONS'] as const, public: 'the project key in the path' };
  async function load(c: Context): Promise<object> {
    const projectKey = c.req.param('token') ?? '';
    const project = await loadProjectByKey(db, projectKey);
    if (project === undefined) throw unknownProjectKey();
    return renderRemoteConfig(
      projectKey,
      (await loadFlags(db, project.id)).some(({ active }) => active),
    );
  }
  api.app.use('/array/*', async (c, next) => {
    allowOrigin(c);
    await next();
  });
  addPublicRoute(api, { ...form, path: '/array/:token/config' }, async (c) =>
    c.req.method === 'OPTIONS' ? c.json({ status: 1 }) : c.json(await load(c)),
  );
  addPublicRoute(api, { ...form, path: '/array/:token/config.js' }, async (c) => {
    if (c.req.method === 'OPTIONS') return c.json({ status: 1 });
    const config = JSON.stringify(await load(c)).replaceAll('<', '\\u003c');
    const token = JSON.stringify(c.req.param('token') ?? '');
    const script = `(function(){var all=window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};all[${token}]={config:${config},siteApps:[]}})();\n`;
    return c.body(script, 200, { 'content-type': 'text/javascript; charset=utf-8' });
  });
}
