import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DELETION_SCHEDULE } from '../lib/cron.ts';
import { ConfigError, UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { loadApiKeys } from './api-keys.ts';
import { startApiProcess } from './api-process.ts';
import type { ApiSettings } from './api-protocol.ts';
import { acquireDataDirLock, type DataDirLock, findOwner, isStillHeld } from './data-dir-lock.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { startRedisServer } from './redis-server.ts';
import { type KeptChild, keepRunning } from './restart.ts';
import { putServices, readServices, removeServices, type Services } from './services.ts';

export interface SupervisorOptions {
  readonly dataDir: string;
  /** `redis`: a Redis is needed, an embedded one unless `redisUrl` names another. */
  readonly want: { readonly redis: boolean; readonly api: boolean };
  /** A running Redis. @default the embedded one */
  readonly redisUrl?: string | undefined;
  /** A PostgreSQL for the bundled API. @default the embedded database */
  readonly databaseUrl?: string | undefined;
  /** The redis-server program. @default see findRedisServer */
  readonly redisServer?: string | undefined;
  /** Who may open the queue dashboard. @default user backhaul with the password in `<dataDir>/keys.json` */
  readonly queues?: {
    readonly user: string;
    readonly password?: string | undefined;
    readonly adminPassword?: string | undefined;
  };
  /** Address that the bundled API listens on. @default 127.0.0.1 and a free port */
  readonly apiHost?: string | undefined;
  readonly apiPort?: number | undefined;
  /** @default the default schedule of deletions, and nothing else */
  readonly apiSettings?: ApiSettings | undefined;
  readonly log: Logger;
}

/**
 * The embedded services of one data folder. The first process owns the folder and runs them; later processes
 * attach to the owner's services. A child that exits is started again at the same address.
 */
export interface Supervisor {
  /** Contains a password: must not be logged. */
  readonly redisUrl: string;
  readonly api?: ApiService;
  /** False when attached to another process's services, or when nothing had to be started. */
  readonly owner: boolean;
  /** Called once, when a service has failed permanently; immediately if it has already. */
  readonly onFailure: (callback: (error: Error) => void) => void;
  /** Stops what this process started, and waits until it has ended. */
  readonly close: () => Promise<void>;
}

export interface ApiService {
  /** Without a trailing slash; the queue dashboard is at `<url>/queues`. */
  readonly url: string;
  readonly projectKey: string;
  readonly personalKey: string;
  /** Login of the queue dashboard, read-only. */
  readonly queues: { readonly user: string; readonly password: string };
}

const PUBLISH_TIMEOUT_MS = 120_000;
const CHECK_EVERY_MS = 50;
const OWNER_CHECK_EVERY_MS = 500;

export async function createSupervisor(given: SupervisorOptions): Promise<Supervisor> {
  const options = { ...given, dataDir: resolve(given.dataDir) };
  if (!options.want.redis && options.redisUrl === undefined) {
    throw new Error('a supervisor without Redis: want.redis is false and there is no redisUrl');
  }
  if (options.redisUrl !== undefined && !options.want.api) return createWithoutServices(options.redisUrl);
  for (;;) {
    const attempt = await acquireDataDirLock(options.dataDir, {
      onUnseen: (owner) => logUnseen(options, owner),
    });
    if (attempt.kind === 'taken') return runServices(options, attempt.lock);
    const services = await waitForServices(options.dataDir, attempt.generation, attempt.owner);
    // Undefined: the owner has ended meanwhile, and the folder is free.
    if (services !== undefined) return attach(options, services, attempt.generation, attempt.owner);
  }
}

const logUnseen = ({ dataDir, log }: SupervisorOptions, { pid, host }: ProcessIdentity) =>
  log.warn(
    { dataDir, pid, host },
    'the process that has the data folder cannot be seen from here: it runs or ran in another container, or before this machine was started; waiting up to 15 s for a sign of life',
  );

/** The Redis of the current owner of the data folder; undefined when there is none. Starts nothing. */
export async function findRunningRedis(dataDir: string): Promise<string | undefined> {
  return (await findRunning(resolve(dataDir)))?.redisUrl;
}

/** Whether the current owner of the data folder runs the bundled API. Starts nothing. */
export const runsBundledApi = async (dataDir: string): Promise<boolean> =>
  (await findRunningApi(dataDir)) !== undefined;

/** The bundled API that the current owner of the data folder runs. Starts nothing. */
export async function findRunningApi(dataDir: string): Promise<Services['api']> {
  return (await findRunning(resolve(dataDir)))?.api;
}

/** Resolves as soon as an owner of the data folder runs the bundled API; never, once the signal is aborted. */
export async function awaitBundledApi(dataDir: string, signal: AbortSignal): Promise<void> {
  const folder = resolve(dataDir);
  for (;;) {
    await sleep(OWNER_CHECK_EVERY_MS, undefined, { signal, ref: false });
    const held = findOwner(folder);
    if (held && readServices(folder, held.generation)?.api !== undefined) return;
  }
}

async function findRunning(dataDir: string): Promise<Services | undefined> {
  const held = findOwner(dataDir);
  return held && waitForServices(dataDir, held.generation, held.owner);
}

function createWithoutServices(redisUrl: string): Supervisor {
  return { redisUrl, owner: false, onFailure: () => {}, close: async () => {} };
}

async function runServices(options: SupervisorOptions, lock: DataDirLock): Promise<Supervisor> {
  const failure = createFailure();
  const children: KeptChild[] = [];
  /** In the reverse order of their start: the API may still use Redis. */
  const stop = async () => {
    removeServices(options.dataDir, lock.generation);
    for (const child of children.reverse()) await child.stop();
    lock.release();
  };
  try {
    let { redisUrl } = options;
    if (redisUrl === undefined) {
      const server = { dataDir: options.dataDir, binary: options.redisServer, log: options.log };
      const redis = await startRedisServer(server);
      const again = () => startRedisServer({ ...server, address: redis.address });
      children.push(keepRunning('Redis', redis, again, failure.raise, options.log));
      redisUrl = redis.url;
    }
    let api: ApiService | undefined;
    if (options.want.api) {
      const { dataDir, databaseUrl, log } = options;
      const { queuesPassword, ...keys } = loadApiKeys(dataDir);
      const { user = 'backhaul', password = queuesPassword, adminPassword } = options.queues ?? {};
      const queues = { user, password, ...(adminPassword === undefined ? {} : { adminPassword }) };
      const { apiHost: host, apiSettings: settings = { deletionSchedule: DELETION_SCHEDULE } } = options;
      const process = { dataDir, databaseUrl, redisUrl, keys, queues, host, settings, log };
      const first = await startApiProcess({ ...process, port: options.apiPort });
      const again = () => startApiProcess({ ...process, port: first.port });
      children.push(keepRunning('API', first, again, failure.raise, log));
      api = { url: first.url, ...keys, queues: { user, password } };
    }
    lock.onLost((error) => {
      // Another process has opened the same files: these must not be written any more, not even to close them.
      for (const child of children) child.abandon();
      failure.raise(error);
    });
    lock.assertHeld(); // what the next owner has published must stay
    putServices(options.dataDir, { generation: lock.generation, redisUrl, ...(api ? { api } : {}) });
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= stop();
      return closing;
    };
    return { redisUrl, ...(api ? { api } : {}), owner: true, onFailure: failure.listen, close };
  } catch (error) {
    await stop();
    throw error;
  }
}

function attach(
  options: SupervisorOptions,
  services: Services,
  generation: number,
  owner: ProcessIdentity,
): Supervisor {
  if (options.want.api && services.api === undefined) {
    throw new ConfigError(
      `The data folder ${options.dataDir} is in use by process ${owner.pid}, which runs without the bundled API ` +
        'that this command needs. Wait until that process has ended, or choose another folder with BACKHAUL_DATA_DIR.',
    );
  }
  const failure = createFailure();
  const timer = setInterval(() => {
    if (isStillHeld(options.dataDir, generation)) return;
    clearInterval(timer);
    failure.raise(
      new UnavailableError(
        `Process ${owner.pid}, which ran the embedded services of ${options.dataDir}, has ended. ` +
          'Start the command again: it then runs them itself.',
      ),
    );
  }, OWNER_CHECK_EVERY_MS);
  timer.unref();
  return {
    redisUrl: options.redisUrl ?? services.redisUrl,
    ...(options.want.api && services.api ? { api: services.api } : {}),
    owner: false,
    onFailure: failure.listen,
    close: async () => clearInterval(timer),
  };
}

async function waitForServices(
  dataDir: string,
  generation: number,
  owner: ProcessIdentity,
): Promise<Services | undefined> {
  const deadlineMs = Date.now() + PUBLISH_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    const services = readServices(dataDir, generation);
    if (services !== undefined) return services;
    if (!isStillHeld(dataDir, generation)) return undefined;
    await sleep(CHECK_EVERY_MS);
  }
  throw new UnavailableError(
    `Process ${owner.pid} owns the data folder ${dataDir} but has not published its Redis and API within ` +
      `${PUBLISH_TIMEOUT_MS / 1000} s. Check what it does, or stop it, and start again.`,
  );
}

/** Keeps the first failure for listeners that are added later. */
function createFailure() {
  const listeners: ((error: Error) => void)[] = [];
  let raised: Error | undefined;
  return {
    raise: (error: Error): void => {
      if (raised !== undefined) return;
      raised = error;
      for (const listener of listeners) listener(error);
    },
    listen: (listener: (error: Error) => void): void => {
      listeners.push(listener);
      if (raised !== undefined) listener(raised);
    },
  };
}
