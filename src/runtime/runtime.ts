import type { Environment } from '../../config/environment.ts';
import { loadSeed } from '../../config/load-seed.ts';
import type { Settings } from '../../config/settings.ts';
import { readApiKeys } from '../embedded/api-keys.ts';
import type { ApiSettings } from '../embedded/api-protocol.ts';
import { createSupervisor, type Supervisor } from '../embedded/supervisor.ts';
import { getMessage } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { connectRedis } from '../lib/redis/connect-redis.ts';
import type { Closable, MigrationRuntime, Producer } from '../migrations/migration-runtime.ts';
import { createBucketOpener, openStaging } from './open-staging.ts';
import { toWebhook } from './open-store.ts';
import { watchRedisTrouble } from './redis-trouble.ts';
import { createStorageTrouble } from './storage-trouble.ts';

/** The Redis, staging and bundled API that a process is connected to. Constructed here alone. */
export interface Runtime extends MigrationRuntime {
  readonly settings: Settings;
  /** For the variables that manifests name. */
  readonly env: Environment;
  readonly redisUrl: string;
  /** The bundled API, where this process runs it or is attached to it. */
  readonly bundled: BundledApi | undefined;
  startWorkers(options: WorkerOptions): Promise<Closable>;
  /** Tops migrations up at the times of their schedules. `importHere`: see RunOptions. */
  startSchedules(options: { readonly importHere: boolean }): Promise<Closable>;
  close(): Promise<void>;
}

export interface WorkerOptions extends Partial<Producer> {
  /**
   * Parts imported at once.
   * @default BACKHAUL_WORKER_CONCURRENCY
   */
  readonly concurrency?: number;
}

export interface BundledApi {
  readonly url: string;
  readonly projectKey: string;
  readonly personalKey: string;
  /** Opens the queue dashboard. */
  readonly queues: { readonly user: string; readonly password: string };
}

async function readApiSettings(settings: Settings): Promise<ApiSettings> {
  const { apiRequestsPerMinute: requestsPerMinute, publicUrl, deletionSchedule, seedFile } = settings;
  const { trustedProxies, geoipFile, s3, staging } = settings;
  return {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(trustedProxies === undefined ? {} : { trustedProxies }),
    ...(geoipFile === undefined ? {} : { geoipFile }),
    deletionSchedule,
    storage: { s3, ...(staging === undefined ? {} : { staging }) },
    ...(seedFile === undefined ? {} : { seed: await loadSeed(seedFile) }),
  };
}

/**
 * The API that BACKHAUL_API_URL names. This process then owns no data folder because of it: it may belong to
 * another machine or container.
 */
async function findApiElsewhere(
  { apiUrl: url, dataDir, queues }: Settings,
  log: Logger,
): Promise<BundledApi | undefined> {
  if (url === undefined) return undefined;
  const { projectKey, personalKey, queuesPassword } = readApiKeys(dataDir);
  await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(API_ANSWERS_WITHIN_MS) }).catch(
    (error: unknown) =>
      log.warn({ url, reason: getMessage(error) }, 'the bundled API does not answer: sending waits for it'),
  );
  return {
    url,
    projectKey,
    personalKey,
    queues: { user: queues.user, password: queues.password ?? queuesPassword },
  };
}

const API_ANSWERS_WITHIN_MS = 5000;

export async function openRuntime(
  settings: Settings,
  env: Environment,
  want: { readonly api: boolean },
  log: Logger,
): Promise<Runtime> {
  const storage = createStorageTrouble(log);
  const staging = await openStaging(settings, storage.watch('staging'));
  const failed = new AbortController();
  const elsewhere = want.api ? await findApiElsewhere(settings, log) : undefined;
  const runsApi = want.api && elsewhere === undefined;
  const supervisor: Supervisor = await createSupervisor({
    dataDir: settings.dataDir,
    want: { redis: settings.redisUrl === undefined, api: runsApi },
    redisUrl: settings.redisUrl,
    databaseUrl: settings.databaseUrl,
    redisServer: settings.redisServer,
    queues: settings.queues,
    apiHost: settings.host,
    apiPort: settings.port,
    apiSettings: runsApi ? await readApiSettings(settings) : undefined,
    log,
  });
  supervisor.onFailure((error: Error) => failed.abort(error));
  const redis = connectRedis(supervisor.redisUrl);
  const trouble = watchRedisTrouble(redis, log);
  const base = {
    settings,
    env,
    log,
    redisUrl: supervisor.redisUrl,
    redis,
    staging,
    bundled: elsewhere ?? supervisor.api,
    failed: failed.signal,
    now: () => new Date(),
    webhook: toWebhook(settings),
    openSourceBucket: createBucketOpener(settings, storage.watch),
  };
  const runtime: Runtime = {
    ...base,
    askRedis: (ask) => ask(redis),
    watchRedis: trouble.watch,
    watchStorage: storage.listen,
    openQueue: async (migrationId) => (await import('./queues.ts')).openQueue(base, migrationId),
    startWorkers: async ({ concurrency = settings.workerConcurrency, produces }) =>
      (await import('./queues.ts')).startRuntimeWorkers(base, { concurrency, produces }),
    startSliceWorker: async ({ produces }) =>
      (await import('./queues.ts')).startRuntimeSliceWorker(base, produces),
    startStaging: async (work) => (await import('./queues.ts')).startStagingWorker(base, work),
    startSchedules: async (options) => (await import('./queues.ts')).startRuntimeSchedules(runtime, options),
    async close() {
      trouble.close();
      redis.disconnect();
      await supervisor.close();
    },
  };
  return runtime;
}
