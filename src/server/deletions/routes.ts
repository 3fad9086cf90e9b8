import { UnavailableError } from '../../lib/errors.ts';
import { loadOwnedProjects, loadProjects } from '../auth/projects.ts';
import { loadUsers } from '../auth/users.ts';
import type { Db } from '../database/db.ts';
import { ApiError, notFound, permissionDenied } from '../http/errors.ts';
import { parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson } from '../http/response.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { deletionPageSchema, deletionQuery, renderDeletion, runSchema } from './schema.ts';
import { loadDeletions } from './store.ts';

/**
 * The events of deleted persons, which go in a batch at the time that the deployment sets: what is queued,
 * what has gone, and a run ahead of time. Beyond the contract; for the operator, hence scope `*`.
 */
const tag = 'Deletions (beyond the contract)';
const MAX_LIMIT = 1000;

/** The job that runs the queued deletions, started by the process of the API (jobs/delete-events.ts). */
export interface DeletionRuns {
  /** Starts it for these projects as soon as possible and returns the job's id. UnavailableError while the queue is away. */
  ask(projectIds: readonly number[]): Promise<string>;
  /** Undefined: there is no such job (any more). */
  state(jobId: string): Promise<DeletionRunState | undefined>;
}

export interface DeletionRunState {
  readonly state: 'waiting' | 'active' | 'retrying' | 'completed' | 'failed';
  /** Why the last attempt failed, or what it waits for; undefined for neither. */
  readonly reason: string | undefined;
  /** Undefined: every project. */
  readonly projectIds: readonly number[] | undefined;
}

export function addDeletionRoutes(api: Api, db: Db, runs: DeletionRuns | undefined): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/deletions/',
      scopes: ['*'],
      summary: 'List the deletions of events, newest first',
      description: 'Of the projects that the key may see.',
      tag,
      query: deletionQuery,
      responses: { 200: { description: 'One page of deletions.', schema: deletionPageSchema } },
    },
    async ({ c, query }) => {
      const page = parsePage(query, MAX_LIMIT);
      const { userId, projectIds } = c.get('key');
      const visible = (await loadProjects(db, userId, projectIds)).map(({ id }) => id);
      const { count, events, deletions } = await loadDeletions(
        db,
        { projectIds: visible, state: query.state },
        page,
      );
      const users = await loadUsers(
        db,
        deletions.flatMap(({ createdBy }) => createdBy ?? []),
      );
      const results = deletions.map((deletion) => renderDeletion(deletion, users));
      return respondWithJson(c, {
        ...renderPage(getPublicUrl(c), page, count, results),
        deleted_events: events,
      });
    },
  );
  addRoute(
    api,
    {
      method: 'post',
      path: '/api/deletions/run/',
      scopes: ['*'],
      summary: 'Delete the events of deleted persons now',
      description:
        'All that is queued for projects of organizations that you own. The job runs on when the caller has gone.',
      tag,
      responses: { 202: { description: 'The job that will do it.', schema: runSchema } },
    },
    async ({ c }) => {
      const { userId, projectIds } = c.get('key');
      const owned = await loadOwnedProjects(db, userId, projectIds);
      if (owned.length === 0) {
        throw permissionDenied(
          'Your level in the organization is insufficient: starting deletions takes an owner.',
        );
      }
      const jobId = await available(runs, (there) => there.ask(owned));
      return respondWithJson(c, { job_id: jobId, state: 'waiting', reason: null }, 202);
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/deletions/run/:job_id/',
      scopes: ['*'],
      summary: 'What becomes of a run',
      description: 'Jobs are forgotten some time after their end.',
      tag,
      responses: { 200: { description: 'The job.', schema: runSchema } },
    },
    async ({ c }) => {
      const jobId = c.req.param('job_id') ?? '';
      const run = await available(runs, (there) => there.state(jobId));
      const { userId, projectIds } = c.get('key');
      const owned = new Set(await loadOwnedProjects(db, userId, projectIds));
      // A run of every project is one that the caller may have been given, as it does what was asked for.
      const isTheirs = owned.size > 0 && (run?.projectIds?.some((id) => owned.has(id)) ?? true);
      if (run === undefined || !isTheirs) {
        throw notFound('The queue does not know this run (any more). Ask for another one.');
      }
      // What failed may be another organization's.
      const isWholly = run.projectIds?.every((id) => owned.has(id)) ?? false;
      const reason = isWholly ? (run.reason ?? null) : null;
      return respondWithJson(c, { job_id: jobId, state: run.state, reason });
    },
  );
}

async function available<T>(
  runs: DeletionRuns | undefined,
  ask: (runs: DeletionRuns) => Promise<T>,
): Promise<T> {
  if (runs === undefined) throw notFound('This API was started without the job that deletes events.');
  try {
    return await ask(runs);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    throw new ApiError(503, 'server_error', 'server_error', 'The queue is not available. Please try again.');
  }
}
