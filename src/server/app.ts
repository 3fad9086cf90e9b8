import { Hono, type MiddlewareHandler } from 'hono';
import { getPath } from 'hono/utils/url';
import type { Logger } from 'pino';
import { addKeyRoutes } from './accounts/key-routes.ts';
import { addMemberRoutes } from './accounts/member-routes.ts';
import { addProjectRoutes } from './accounts/project-routes.ts';
import { addUserRoutes } from './accounts/user-routes.ts';
import { addActionRoutes } from './actions/routes.ts';
import { addActorRoutes } from './actors/routes.ts';
import { createAccessCheck } from './auth/access.ts';
import { createThrottle } from './auth/throttle.ts';
import { createSenderLookup } from './capture/request/sender.ts';
import { addIngestRoutes } from './capture/routes.ts';
import { addCohortRoutes } from './cohorts/routes.ts';
import { addDashboardRoutes } from './dashboards/routes.ts';
import type { Db } from './database/db.ts';
import { addDefinitionRoutes } from './definitions/routes.ts';
import { addDeletionRoutes, type DeletionRuns } from './deletions/routes.ts';
import { addCountRoutes } from './events/count-routes.ts';
import { addEventRoutes } from './events/routes.ts';
import { addFlagClientRoutes } from './flags/client-routes.ts';
import { createDecider } from './flags/decide/decide.ts';
import type { Locations } from './flags/decide/location.ts';
import { addDecideRoutes } from './flags/decide/routes.ts';
import { addFlagRoutes } from './flags/routes.ts';
import { createHealthCheck } from './health.ts';
import { allowOrigin, isForBrowsers } from './http/cors.ts';
import { methodNotAllowed, notFound, respondWithError } from './http/errors.ts';
import { createCorrelationFinder } from './insights/correlation/compute.ts';
import { createActorFinder } from './insights/lists/find-actors.ts';
import { createQuestionTurns } from './insights/question-turns.ts';
import { createInsightResults } from './insights/results.ts';
import { addDocsRoutes } from './openapi/routes.ts';
import { addOperationRoutes, type OperationsDeps } from './operations/routes.ts';
import { addPersonRoutes } from './persons/routes.ts';
import { publicAddress } from './routing/public-url.ts';
import { RememberingRouter } from './routing/remembering-router.ts';
import { type Api, addPublicRoute, createApi } from './routing/route.ts';

export interface ApiDeps {
  readonly db: Db;
  readonly log: Logger;
  /**
   * Milliseconds since 1970.
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Limit of each personal key, below `/api/`.
   * @default no limit
   */
  readonly requestsPerMinute?: number | undefined;
  /**
   * How long the database may work on one question about events. For measurements beyond it.
   * @default 10000
   */
  readonly questionLimitMs?: number | undefined;
  /**
   * Where clients reach it, without a trailing slash.
   * @default the address of each request
   */
  readonly publicUrl?: string | undefined;
  /** Without it deletions are queued, and never run. */
  readonly deletionRuns?: DeletionRuns | undefined;
  /**
   * Addresses and networks of proxies.
   * @default this machine and private networks
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * Places of addresses.
   * @default none is known
   */
  readonly locations?: Locations | undefined;
  /** Pages of migrations, actions on them and numbers for machines. @default none */
  readonly operations?: OperationsDeps | undefined;
  /** A project key that every start makes valid again, so that it cannot be replaced. */
  readonly fixedProjectKey?: string | undefined;
}

/** All routes under one set of rules: authorisation (access.ts), error envelope, optional trailing slash. */
export function buildApi(deps: ApiDeps): Hono {
  const { log } = deps;
  const root = new Hono({ getPath: contractPath, router: new RememberingRouter() });
  root.use('*', safeHeaders);
  root.route('/', declareRoutes(deps).app);
  root.onError((error, c) => respondWithError(error, c, log));
  root.notFound((c) => {
    const { path } = c.req;
    if (isForBrowsers(path)) allowOrigin(c);
    const allowed = findMethods(root, path);
    if (allowed.length === 0) return respondWithError(notFound(), c, log);
    c.header('Allow', allowed.join(', '));
    return respondWithError(methodNotAllowed(c.req.method), c, log);
  });
  return root;
}

/** Every route behind the access check, and the table of who may call it. */
export function declareRoutes(deps: ApiDeps): Api {
  const { db, log } = deps;
  const now = deps.now ?? Date.now;
  const api = createApi();
  const { requestsPerMinute: limit } = deps;
  const throttle =
    limit === undefined ? undefined : createThrottle(limit, deps.now ?? (() => performance.now()));
  api.app.use('/api/*', publicAddress(deps.publicUrl));
  api.app.use('/api/*', createAccessCheck(db, throttle, api.access));
  addProjectRoutes(api, deps);
  addKeyRoutes(api, deps);
  addUserRoutes(api, deps);
  addMemberRoutes(api, deps);
  addActionRoutes(api, { db, now });
  addCohortRoutes(api, { db, now });
  const { questionLimitMs: timeLimitMs } = deps;
  const questions = {
    now,
    runInTurn: createQuestionTurns(db.kind === 'pglite' ? 1 : 3),
    ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
  };
  addActorRoutes(api, {
    db,
    now,
    findActors: createActorFinder(questions),
    findCorrelations: createCorrelationFinder(questions),
  });
  addPersonRoutes(api, { db, now });
  const decider = createDecider({ db, now });
  addFlagRoutes(api, { db, decider, now });
  addFlagClientRoutes(api, db);
  addEventRoutes(api, db);
  addCountRoutes(api, db);
  const getSender = createSenderLookup(deps.trustedProxies);
  addIngestRoutes(api, { db, log, now, getSender });
  addDecideRoutes(api, { decider, getSender, locations: deps.locations });
  addDashboardRoutes(api, {
    db,
    results: createInsightResults(questions),
    now,
  });
  addDefinitionRoutes(api, db);
  addDeletionRoutes(api, db, deps.deletionRuns);
  addDocsRoutes(api);
  if (deps.operations) addOperationRoutes(api, deps.operations);
  const health = {
    methods: ['GET'],
    path: '/healthz',
    public: 'open: reports whether the API is well',
  } as const;
  const checkHealth = createHealthCheck(db);
  addPublicRoute(api, health, async (c) => {
    await checkHealth();
    return c.json({ status: 'ok' });
  });
  return api;
}

/** Paths of the contract end in a slash, which clients may omit. */
const CONTRACT_PATH = /^\/(?:api|batch|capture|e|track|engage|flags|i\/v0\/e|shared|embedded)(?:$|\/)/;

function contractPath(request: Request): string {
  // Some clients encode `@current` and `@me`.
  const path = getPath(request).replaceAll('%40', '@');
  // Newer server clients ask for definitions here, with a personal key: the same rules of access apply.
  if (/^\/flags\/definitions\/?$/.test(path)) return '/api/feature_flag/local_evaluation/';
  if (path === '/decide/') return '/decide';
  if (!CONTRACT_PATH.test(path)) return path;
  const whole = path.endsWith('/') ? path : `${path}/`;
  return /\.(?:csv|json|ndjson)\/$/.test(whole) ? whole.slice(0, -1) : whole;
}

/** Methods that have a route at this path, not counting middleware. */
function findMethods(app: Hono, path: string): string[] {
  const methods = new Set<string>();
  for (const route of app.routes) {
    if (route.method !== 'ALL' && toPattern(route.path).test(path)) methods.add(route.method);
  }
  return [...methods];
}

function toPattern(path: string): RegExp {
  const parts = path.replace(/\/$/, '').split('/');
  const source = parts.map((part) =>
    part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
  return new RegExp(`^${source.join('/')}/?$`);
}

/**
 * Headers of every response: browsers do not guess its type, and send no key of a query string to another
 * site as the referrer. Responses below `/api/` contain personal data and keys, so no cache stores them.
 */
const safeHeaders: MiddlewareHandler = (c, next) => {
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Referrer-Policy', 'no-referrer');
  if (c.req.path.startsWith('/api/')) c.header('Cache-Control', 'no-store');
  return next();
};
