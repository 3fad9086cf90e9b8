import { parseJson } from '../../lib/json/parse-json.ts';
import { loadUsers } from '../auth/users.ts';
import type { Queryable } from '../database/db.ts';
import { FORMS, respondNegotiated } from '../http/content-negotiation.ts';
import { notFound } from '../http/errors.ts';
import { isJsonObject } from '../http/json.ts';
import { paged, pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { parseRowId } from '../http/row-id.ts';
import { parsePersonId, personNotFound } from '../persons/person-id.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute, type Call } from '../routing/route.ts';
import { changeCohort, createCohort, MAX_COHORTS_OF_PROJECT } from './change-cohort.ts';
import { changeMembers } from './change-members.ts';
import { loadPersonCohorts } from './cohorts-of-person.ts';
import { type CountDeps, refreshCounts } from './count-cohorts.ts';
import { findPerson } from './member-store.ts';
import {
  type CohortBody,
  changedCohortSchema,
  cohortSchema,
  MAX_MEMBERS,
  membersSchema,
  newCohortSchema,
  personCohortsQuery,
  personCohortsSchema,
} from './schema.ts';
import { countCohorts, loadCohortPage, loadCohortsById, type StoredCohort } from './store.ts';

/**
 * Cohorts: sets of persons. Static ones have members that are added and removed, dynamic ones a condition.
 * Membership of a dynamic one is always evaluated; its `count` is cached for a while.
 */
const tag = 'Cohorts (beyond the contract)';
const base = '/api/projects/:project_id/cohorts/';
const params = { id: 'integer' } as const;

type AnyCall = Call<unknown, unknown>;

/** Call it before the routes of persons, whose `:id` would take `cohorts` for a person. */
export function addCohortRoutes(api: Api, deps: CountDeps): void {
  const { db } = deps;

  async function answerCohort(
    { c }: Pick<AnyCall, 'c'>,
    id: number,
    status: 200 | 201 = 200,
  ): Promise<Response> {
    const [cohort] = await renderCohorts(db, await loadCohortsById(db, c.get('project').id, [id]));
    if (cohort === undefined) throw notFound();
    return respondWithJson(c, cohort, status);
  }

  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/persons/cohorts/',
      scopes: ['person:read', 'cohort:read'],
      summary: 'List the cohorts that a person is in',
      tag: 'Persons',
      query: personCohortsQuery,
      responses: { 200: { description: 'Newest first.', schema: personCohortsSchema, contentTypes: FORMS } },
    },
    async (call) => {
      const projectId = call.c.get('project').id;
      const personId = await findPerson(db, projectId, parsePersonId(call.query.person_id));
      if (personId === undefined) throw personNotFound();
      const cohorts = await loadPersonCohorts(db, projectId, personId, deps.now());
      return respondNegotiated(call, { results: await renderCohorts(db, cohorts) });
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: base,
      scopes: ['cohort:read'],
      summary: 'List cohorts',
      tag,
      query: pageQuery,
      responses: { 200: { description: 'Newest first, without deleted ones.', schema: paged(cohortSchema) } },
    },
    async ({ c, query }) => {
      const projectId = c.get('project').id;
      const page = parsePage(query, MAX_COHORTS_OF_PROJECT);
      await refreshCounts(deps, projectId, await loadCohortPage(db, projectId, page));
      const cohorts = await renderCohorts(db, await loadCohortPage(db, projectId, page));
      return respondWithJson(
        c,
        renderPage(getPublicUrl(c), page, await countCohorts(db, projectId), cohorts),
      );
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: base,
      scopes: ['cohort:write'],
      summary: 'Make a cohort',
      description: `A dynamic one takes \`filters\`. A project may have ${MAX_COHORTS_OF_PROJECT}.`,
      tag,
      body: newCohortSchema,
      responses: { 201: { description: 'The cohort.', schema: cohortSchema } },
    },
    async ({ c, body }) => {
      const context = { projectId: c.get('project').id, userId: c.get('user').id, now: deps.now() };
      return answerCohort({ c }, await createCohort(deps, context, body), 201);
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: `${base}:id/`,
      scopes: ['cohort:read'],
      params,
      summary: 'Retrieve a cohort',
      tag,
      responses: { 200: { description: 'The cohort.', schema: cohortSchema } },
    },
    async ({ c }) => {
      const id = parseCohortId(c.req.param('id'));
      const cohorts = await loadCohortsById(db, c.get('project').id, [id]);
      if (cohorts[0] === undefined || cohorts[0].deleted) throw notFound();
      await refreshCounts(deps, c.get('project').id, cohorts);
      return answerCohort({ c }, id);
    },
  );
  addRoute(
    api,
    {
      method: 'patch',
      path: `${base}:id/`,
      scopes: ['cohort:write'],
      params,
      summary: 'Change, delete (`deleted: true`) or bring back a cohort',
      tag,
      body: changedCohortSchema,
      responses: { 200: { description: 'The cohort.', schema: cohortSchema } },
    },
    async ({ c, body }) => {
      const id = parseCohortId(c.req.param('id'));
      const context = { projectId: c.get('project').id, userId: c.get('user').id, now: deps.now() };
      await changeCohort(deps, context, id, body);
      return answerCohort({ c }, id);
    },
  );
  for (const change of ['add', 'remove'] as const) {
    addRoute(
      api,
      {
        method: 'patch',
        path: `${base}:id/${change === 'add' ? 'add_persons_to' : 'remove_persons_from'}_static_cohort/`,
        scopes: ['cohort:write'],
        params,
        summary:
          change === 'add' ? 'Put persons into a static cohort' : 'Take persons out of a static cohort',
        description: `Up to ${MAX_MEMBERS} by number or uuid, and as many by distinct id.`,
        tag,
        body: membersSchema,
        responses: { 200: { description: 'The cohort.', schema: cohortSchema } },
      },
      async ({ c, body }) => {
        const id = parseCohortId(c.req.param('id'));
        await changeMembers(deps, c.get('project').id, id, change, body);
        return answerCohort({ c }, id);
      },
    );
  }
}

function parseCohortId(text: string | undefined): number {
  const id = parseRowId(text);
  if (id === undefined) throw notFound();
  return id;
}

/** Cohorts in the service's shape, with the users who made them. */
async function renderCohorts(db: Queryable, cohorts: readonly StoredCohort[]): Promise<CohortBody[]> {
  const users = await loadUsers(
    db,
    cohorts.flatMap(({ createdBy: userId }) => userId ?? []),
  );
  return cohorts.map((cohort) => {
    const filters = parseJson(cohort.filters);
    const groups = parseJson(cohort.groups);
    return {
      id: cohort.id,
      name: cohort.name,
      description: cohort.description,
      groups: Array.isArray(groups) ? groups : [],
      deleted: cohort.deleted,
      filters: isJsonObject(filters) ? { ...filters } : {},
      query: null,
      is_calculating: false,
      created_by: users.get(cohort.createdBy ?? 0) ?? null,
      created_at: cohort.createdAt,
      last_calculation: cohort.lastCalculation,
      errors_calculating: cohort.errorsCalculating,
      count: cohort.count,
      is_static: cohort.isStatic,
    };
  });
}
