import { Redis } from 'ioredis';
import type { Environment } from '../../config/environment.ts';
import { loadSeed } from '../../config/load-seed.ts';
import type { Settings } from '../../config/settings.ts';
import type { Staging } from '../contract/staging.ts';
import type { ApiSettings } from '../embedded/api-protocol.ts';
import { createSupervisor, type Supervisor } from '../embedded/supervisor.ts';
import type { Logger } from '../lib/logger.ts';
import { openStaging } from './open-staging.ts';

/** The parts a command works with: the one place that constructs Redis, staging and the bundled API. */
export interface Runtime {
  readonly settings: Settings;
  /** For the variables that manifests name. */
  readonly env: Environment;
  readonly log: Logger;
  readonly redisUrl: string;
  readonly redis: Redis;
  readonly staging: Staging;
  /** The bundled API, where this site runs or attaches to one. */
  readonly bundled: BundledApi | undefined;
  /** Aborts when an embedded part died for good; the run stops and can be resumed. */
  readonly failed: AbortSignal;
  close(): Promise<void>;
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
  return {
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    deletionSchedule,
    ...(seedFile === undefined ? {} : { seed: await loadSeed(seedFile) }),
  };
}

export async function openRuntime(
  settings: Settings,
  env: Environment,
  want: { readonly api: boolean },
  log: Logger,
): Promise<Runtime> {
  const staging = await openStaging(settings);
  const failed = new AbortController();
  const supervisor: Supervisor = await createSupervisor({
    dataDir: settings.dataDir,
    want: { redis: settings.redisUrl === undefined, api: want.api },
    redisUrl: settings.redisUrl,
    databaseUrl: settings.databaseUrl,
    redisServer: settings.redisServer,
    queues: settings.queues,
    apiHost: settings.host,
    apiPort: settings.port,
    apiSettings: want.api ? await readApiSettings(settings) : undefined,
    log,
  });
  supervisor.onFailure((error: Error) => failed.abort(error));
  const redis = new Redis(supervisor.redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => {}); // the queues' own connections report it
  return {
    settings,
    env,
    log,
    redisUrl: supervisor.redisUrl,
    redis,
    staging,
    bundled: supervisor.api,
    failed: failed.signal,
    async close() {
      redis.disconnect();
      await supervisor.close();
    },
  };
}
