import { type HttpBindings, type ServerType, serve } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Seed } from '../../config/seed.ts';
import { toDatabasePaths } from '../embedded/database-note.ts';
import { ConfigError, getMessage } from '../lib/errors.ts';
import type { MigrationStore } from '../migrations/migration-runtime.ts';
import { buildApi } from './app.ts';
import { savePersonalKey } from './auth/keys.ts';
import { ensureProject } from './auth/projects.ts';
import { declareCohorts } from './cohorts/declare-cohorts.ts';
import type { Db } from './database/db.ts';
import { explainFailure } from './database/explain-failure.ts';
import { migrate } from './database/migrate.ts';
import { startIndexBuilding } from './database/migrations/server-indexes.ts';
import { refuseHalfMoved } from './database/move/progress.ts';
import { type OpenedDatabase, openDatabase } from './database/open-database.ts';
import { watchSize } from './database/outgrown.ts';
import { createPgliteDb } from './database/pglite.ts';
import { createPoolDb } from './database/pool.ts';
import type { DeletionRuns } from './deletions/routes.ts';
import { createDeletionWork, type DeletionWork } from './deletions/run-deletions.ts';
import { openLocations } from './flags/decide/location.ts';
import { declareFlags } from './flags/declare-flags.ts';
import { createHealthCheck } from './health.ts';
import { MAX_HEADER_BYTES, respondToClientError } from './http/client-error.ts';
import type { OperationsDeps } from './operations/routes.ts';
import { assertEmbeddedIsOwn, assertOwnDatabase } from './own-database.ts';

/** A request must have arrived whole by then: a client that trickles its body is cut off. */
const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 15_000;
const TIMEOUT_CHECK_MS = 5000;
/** While closing: how often idle connections are closed. */
const IDLE_CHECK_MS = 100;
/** Longer than the pause between two batches of a worker, so that it keeps its connections. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

export interface ApiOptions {
  /**
   * A PostgreSQL server.
   * @default PGlite in `<dataDir>/database`
   */
  readonly databaseUrl?: string;
  readonly dataDir: string;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly log: Logger;
  /**
   * Limit of each personal key.
   * @default no limit
   */
  readonly requestsPerMinute?: number;
  /**
   * Where clients reach it, without a trailing slash.
   * @default the address of each request
   */
  readonly publicUrl?: string;
  /**
   * Addresses and networks whose `X-Forwarded-For` is believed.
   * @default this machine and private networks
   */
  readonly trustedProxies?: readonly string[];
  /**
   * Path of a MaxMind file.
   * @default no place of an address is known
   */
  readonly geoipFile?: string;
  /** Keys that must exist once the API answers. The personal key gets every scope. */
  readonly bootstrap?: { readonly projectKey: string; readonly personalKey: string };
  /** What the project of these keys has from the start. */
  readonly seed?: Seed;
  /**
   * Bound on the arrival of a whole request.
   * @default 60000
   */
  readonly requestTimeoutMs?: number;
  /** More routes for the same port, such as the queue dashboard. */
  readonly extraRoutes?: (app: Hono) => void;
  /** Pages of migrations and numbers for machines. @default none */
  readonly operations?: Omit<OperationsDeps, 'checks' | 'closing'>;
  /** Starts the job that deletes events (jobs/delete-events.ts). Without it deletions never run. */
  readonly startDeletionJobs?: (work: DeletionWork) => DeletionRuns & { close(): Promise<void> };
}

export interface RunningApi {
  /** Without a trailing slash. */
  readonly url: string;
  /** Why the database was not ready when the API was; undefined when it was. */
  readonly waitingFor: string | undefined;
  /** Lets requests in progress finish, then closes the database. */
  close(): Promise<void>;
}

/** A database that is away does not keep it from listening: requests get a 503 until it is there. */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { log } = options;
  const host = options.host ?? '127.0.0.1';
  const opened = await openDatabaseOf(options);
  const { db } = opened;
  const closing = new AbortController();
  let deletionRuns: ReturnType<NonNullable<ApiOptions['startDeletionJobs']>> | undefined;
  try {
    deletionRuns = options.startDeletionJobs?.(createDeletionWork(db, log));
    const { requestsPerMinute, publicUrl, trustedProxies } = options;
    const locations = options.geoipFile === undefined ? undefined : openLocations(options.geoipFile);
    const fixedProjectKey = options.bootstrap?.projectKey;
    const operations = options.operations && {
      ...options.operations,
      closing: closing.signal,
      checks: createReadyChecks(db, options.operations.store),
    };
    const app = buildApi({
      operations,
      db,
      log,
      deletionRuns,
      requestsPerMinute,
      publicUrl,
      fixedProjectKey,
      trustedProxies,
      locations,
    });
    options.extraRoutes?.(app);
    const server = await listen(app, host, options.port, options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
    log.info({ url: server.url, database: db.kind }, 'API ready');
    const watch = watchSize(db, log);
    const indexes = startIndexBuilding(db, log);
    return {
      url: server.url,
      waitingFor: opened.waitingFor,
      async close() {
        closing.abort();
        await options.operations?.producers.close();
        watch.close();
        await server.close();
        await deletionRuns?.close();
        await indexes.close();
        await opened.close();
      },
    };
  } catch (error) {
    await deletionRuns?.close();
    await opened.close();
    throw error;
  }
}

const createReadyChecks = (db: Db, { staging, askRedis }: MigrationStore) => ({
  database: createHealthCheck(db),
  redis: () => askRedis((redis) => redis.ping()),
  staging: () => staging.get('_migrations/none.json'),
});

async function openDatabaseOf({
  databaseUrl,
  dataDir,
  log,
  bootstrap,
  seed,
}: ApiOptions): Promise<OpenedDatabase> {
  const isEmbedded = databaseUrl === undefined;
  if (isEmbedded) assertEmbeddedIsOwn(dataDir);
  const db = isEmbedded ? createPgliteDb(toDatabasePaths(dataDir).folder) : createPoolDb(databaseUrl, log);
  const prepare = async () => {
    await refuseHalfMoved(db);
    await migrate(db);
    await assertOwnDatabase(db, isEmbedded ? 'embedded' : 'server', dataDir);
    if (bootstrap !== undefined) await saveBootstrap(db, bootstrap, seed);
  };
  const explain = (error: unknown) => (isEmbedded ? error : explainFailure(databaseUrl, error));
  return openDatabase({ db, prepare, explain, log });
}

async function saveBootstrap(
  db: Db,
  keys: { projectKey: string; personalKey: string },
  seed: Seed | undefined,
): Promise<void> {
  const project = await ensureProject(db, { name: 'Backhaul', projectKey: keys.projectKey });
  await savePersonalKey(db, keys.personalKey, { label: 'Backhaul', scopes: ['*'] });
  if (seed === undefined) return;
  await declareCohorts({ db, now: Date.now }, project.id, seed.cohorts);
  await declareFlags(db, project.id, seed.flags);
}

function listen(
  app: Hono,
  host: string,
  port: number,
  requestTimeoutMs: number,
): Promise<Pick<RunningApi, 'url' | 'close'>> {
  return new Promise((resolve, reject) => {
    const server = serve(
      {
        fetch: (request, env) => app.fetch(request, env as HttpBindings),
        hostname: host,
        port,
        serverOptions: {
          maxHeaderSize: MAX_HEADER_BYTES,
          requestTimeout: requestTimeoutMs,
          headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
          keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
          connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestTimeoutMs),
        },
      },
      (address) => {
        const name = host.includes(':') ? `[${host}]` : host;
        resolve({ url: `http://${name}:${address.port}`, close: () => closeServer(server) });
      },
    );
    server.on('clientError', respondToClientError);
    server.once('error', (cause: Error) =>
      reject(
        new ConfigError(
          `The API cannot listen on ${host}:${port}: ${getMessage(cause)}. Choose another port with BACKHAUL_PORT, or 0 for a free one.`,
          cause,
        ),
      ),
    );
  });
}

/** Lets requests in progress finish, and closes connections once they are idle. */
function closeServer(server: ServerType): Promise<void> {
  return new Promise((closed) => {
    const sweep = setInterval(() => {
      if ('closeIdleConnections' in server) server.closeIdleConnections();
    }, IDLE_CHECK_MS);
    server.close(() => {
      clearInterval(sweep);
      closed();
    });
  });
}
