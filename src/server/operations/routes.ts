import type { Context } from 'hono';
import { html } from 'hono/html';
import { streamSSE } from 'hono/streaming';
import { runChecks } from '../../lib/async/run-checks.ts';
import { ConfigError, SourceError } from '../../lib/errors.ts';
import { cancelMigration, pauseMigration } from '../../migrations/control.ts';
import { RefusedError } from '../../migrations/life-store.ts';
import type { MigrationStore } from '../../migrations/migration-runtime.ts';
import type { ApiEnv } from '../auth/access.ts';
import { askForCredentials, createRoleCheck, findRole, type RoleCredentials } from '../auth/roles.ts';
import { isJsonObject } from '../http/json.ts';
import { readRequestBody } from '../http/request-body.ts';
import { type Api, addPublicRoute, addRoleRoute } from '../routing/route.ts';
import { type Action, createFormToken, findForgery, isAction, listActions } from './actions.ts';
import { LIVE_SCRIPT } from './live-script.ts';
import { type LiveValue, MAX_LISTENERS } from './live-value.ts';
import { type QueueDepth, renderMetrics } from './metrics.ts';
import { type Fragments, respondWithPage, respondWithProblem } from './pages/page.ts';
import { renderCoveragePage } from './pages/render-coverage.ts';
import { renderList, renderListPage } from './pages/render-list.ts';
import { renderMigration, renderMigrationPage } from './pages/render-migration.ts';
import { renderSchedules, renderSchedulesCard } from './pages/render-schedules.ts';
import { sendChanges } from './send-changes.ts';
import type { Producers } from './start-producer.ts';
import { createViews, type Overview } from './views.ts';

export interface OperationsDeps {
  readonly store: MigrationStore;
  readonly credentials: RoleCredentials;
  readonly producers: Producers;
  /** Throws ConfigError where the environment lacks a key that the manifest of a migration names. */
  readonly assertKeys: (migration: string) => Promise<void>;
  /** Jobs of the queues that all workers share. */
  readonly countJobs: () => Promise<readonly QueueDepth[]>;
  /** What the server needs, by name; each throws what is wrong. */
  readonly checks: Readonly<Record<string, () => Promise<unknown>>>;
  /** Ends the streams of all pages. */
  readonly closing: AbortSignal;
}

/** Pages of migrations, actions on them, and numbers for machines. */
export function addOperationRoutes(api: Api, deps: OperationsDeps): void {
  const { store, credentials, producers, closing } = deps;
  const check = createRoleCheck(credentials, api.access);
  for (const path of ['/', '/migrations/*', '/operations/*', '/metrics', '/queue-depth'])
    api.app.use(path, check);

  const views = createViews(store);
  const toReader = (c: Context<ApiEnv>, name: string) => {
    const secret = c.get('role') === 'operator' ? credentials.adminPassword : undefined;
    return { token: secret === undefined ? undefined : createFormToken(secret, name) };
  };

  async function respondWithMigration(
    c: Context<ApiEnv>,
    name: string,
    { notice, status = 200 }: { notice?: string; status?: 200 | 403 | 409 } = {},
  ): Promise<Response> {
    const view = await views.readView(name);
    const parts = renderMigration(view, toReader(c, name));
    const body = renderMigrationPage(name, parts, notice);
    const address = `/migrations/${name}`;
    const page = { title: `${name} · ${view.state}`, address, live: `${address}/live`, body };
    return respondWithPage(c, page, status);
  }

  const stream = <T>(c: Context<ApiEnv>, live: LiveValue<T>, render: (value: T) => Fragments): Response => {
    if (views.countListeners() >= MAX_LISTENERS) return c.text('Too many pages are open.\n', 503);
    c.header('x-accel-buffering', 'no');
    return streamSSE(c, (events) => sendChanges(events, live, { render, closing }));
  };

  async function act(
    name: string,
    action: Action,
    reason: string | undefined,
  ): Promise<{ to: string } | { error: string }> {
    if (action === 'pause' || action === 'cancel') {
      const hold = action === 'pause' ? pauseMigration : cancelMigration;
      const result = await hold(store, name, 'asked for on the page of the migration');
      return result.kind === 'done' ? { to: name } : { error: `${result.reason}.` };
    }
    const args =
      action === 'resume'
        ? ['resume', name]
        : ['rejects', 'replay', name, ...(reason === undefined ? [] : ['--reason', reason])];
    const lacking = await deps.assertKeys(name).then(() => undefined, explainMissingKey);
    if (lacking !== undefined) return { error: lacking };
    const start = await producers.start(args);
    if (start.kind === 'running') return { to: start.migration };
    if (start.kind === 'preparing' || start.code === 0) return { to: name };
    return { error: `The ${action} ended at once (exit code ${start.code}): ${start.said}` };
  }

  const viewer = 'viewer' as const;
  addRoleRoute(api, { method: 'GET', path: '/', role: viewer }, async (c) => {
    const parts = renderOverview(await views.readAll());
    const page = { title: 'Migrations · Backhaul', address: '/', live: '/operations/live' };
    return respondWithPage(c, {
      ...page,
      body: html`${renderListPage(parts)}${renderSchedulesCard(parts)}`,
    });
  });
  addRoleRoute(api, { method: 'GET', path: '/operations/live', role: viewer }, (c) =>
    stream(c, views.liveList, renderOverview),
  );
  addRoleRoute(api, { method: 'GET', path: '/operations/live.js', role: viewer }, (c) =>
    c.body(LIVE_SCRIPT, 200, {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
    }),
  );
  addRoleRoute(api, { method: 'GET', path: '/operations/sign-in', role: viewer }, (c) => {
    if (findRole(c.req.header('authorization'), credentials) !== 'operator')
      return askForCredentials(c, 'The password of operators is asked for: BACKHAUL_QUEUES_ADMIN_PASSWORD.');
    const name = c.req.query('to') ?? '';
    return c.redirect(/^[a-z0-9][a-z0-9_.-]*$/.test(name) ? `/migrations/${name}` : '/');
  });
  const addMigrationRoute = (
    route: Parameters<typeof addRoleRoute>[1],
    handle: (c: Context<ApiEnv>, name: string) => Promise<Response>,
  ): void =>
    addRoleRoute(api, route, async (c) => {
      try {
        return await handle(c, c.req.param('name') ?? '');
      } catch (error) {
        if (error instanceof RefusedError)
          return respondWithProblem(c, { title: 'No such migration', text: error.message }, 404);
        if (error instanceof SourceError)
          return respondWithProblem(c, { title: 'Damaged in staging', text: error.message }, 500);
        throw error;
      }
    });
  addMigrationRoute({ method: 'GET', path: '/migrations/:name', role: viewer }, (c, name) =>
    respondWithMigration(c, name),
  );
  addMigrationRoute({ method: 'GET', path: '/migrations/:name/live', role: viewer }, async (c, name) => {
    const live = await views.getLiveView(name);
    const reader = toReader(c, name);
    return stream(c, live, (view) => renderMigration(view, reader));
  });
  addMigrationRoute({ method: 'GET', path: '/migrations/:name/coverage', role: viewer }, async (c, name) =>
    respondWithPage(c, {
      title: `Coverage of ${name}`,
      address: `/migrations/${name}/coverage`,
      body: renderCoveragePage(name, await views.readCoverage(name)),
    }),
  );
  const post = { method: 'POST', path: '/migrations/:name/:action', role: 'operator' } as const;
  addMigrationRoute(post, async (c, name) => {
    const { action = '' } = c.req.param();
    if (!isAction(action)) return c.notFound();
    const body = await readRequestBody(c);
    const form = isJsonObject(body) ? body : {};
    const expected = createFormToken(credentials.adminPassword ?? '', name);
    const forgery = findForgery(c, { expected, given: form['token'] });
    if (forgery !== undefined) return respondWithMigration(c, name, { notice: forgery, status: 403 });
    const status = await views.readStatus(name);
    if (!listActions(status).includes(action)) {
      const notice = `Migration ${name} is ${status.state}: there is nothing to ${action}.`;
      return respondWithMigration(c, name, { notice, status: 409 });
    }
    const reason =
      typeof form['reason'] === 'string' && /^\w+$/.test(form['reason']) ? form['reason'] : undefined;
    const done = await act(name, action, reason);
    if ('error' in done) return respondWithMigration(c, name, { notice: done.error, status: 409 });
    return c.redirect(`/migrations/${done.to}`, 303);
  });
  addRoleRoute(api, { method: 'GET', path: '/metrics', role: viewer }, async (c) => {
    const [all, queues] = await Promise.all([views.readAll(), deps.countJobs().catch(() => undefined)]);
    return c.body(renderMetrics({ ...all, queues }), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    });
  });
  addRoleRoute(api, { method: 'GET', path: '/queue-depth', role: viewer }, async (c) => {
    const queues = await deps.countJobs();
    const sum = (pick: (queue: QueueDepth) => number) =>
      queues.reduce((total, queue) => total + pick(queue), 0);
    const [waiting, active] = [sum((queue) => queue.waiting), sum((queue) => queue.active)];
    // Scaled by those that wait alone, workers would be taken away while they have the last jobs.
    return c.json({ open: waiting + active, waiting, active, queues });
  });
  const ready = {
    methods: ['GET'],
    path: '/readyz',
    public: 'open: reports which parts can be reached',
  } as const;
  addPublicRoute(api, ready, async (c) => {
    const health = await runChecks(deps.checks);
    return c.json(health, health.status === 'ok' ? 200 : 503);
  });
}

const renderOverview = ({ migrations, schedules }: Overview): Fragments => ({
  ...renderList(migrations),
  ...renderSchedules(schedules, new Set(migrations.map(({ migration }) => migration))),
});

function explainMissingKey(error: unknown): string {
  if (!(error instanceof ConfigError)) throw error;
  return `${error.message}. That is the environment of the server: set it there and start the server again, or resume on the command line.`;
}
