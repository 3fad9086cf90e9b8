import { createInterface } from 'node:readline';
import { readEnvironment } from '../../config/environment.ts';
import { readApiKey, readHashKey } from '../../config/manifest/load-manifest.ts';
import { createDashboard } from '../../jobs/dashboard.ts';
import { startDeletionJobs } from '../../jobs/delete-events.ts';
import { type ApiReply, apiOrder } from '../embedded/api-protocol.ts';
import { BackhaulError, getMessage } from '../lib/errors.ts';
import { createLogger } from '../lib/logger.ts';
import { loadStoredManifest } from '../migrations/manifest/stored-manifest.ts';
import { openStaging } from '../runtime/open-staging.ts';
import { createStorageTrouble } from '../runtime/storage-trouble.ts';
import { admit } from './auth/roles.ts';
import { createProducers } from './operations/start-producer.ts';
import { startApi } from './server.ts';

/**
 * The process of the bundled API, run by the supervisor: one order comes in on stdin, one reply goes
 * out on stdout, logs go to stderr. It ends on SIGTERM, and when its stdin closes.
 */
const STOP_BOUND_MS = 8_000;

const lines = createInterface({ input: process.stdin });
const orphaned = new Promise<void>((resolve) => lines.once('close', resolve));
const terminated = new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()));
lines.once('line', (line) => void serve(line));

async function serve(line: string): Promise<void> {
  try {
    const {
      logLevel,
      dashboard: boards,
      settings: { deletionSchedule: schedule, storage = { s3: {} }, ...settings },
      ...order
    } = apiOrder.parse(JSON.parse(line));
    const log = createLogger(logLevel);
    const { redisUrl, ...credentials } = boards;
    const dashboard = createDashboard({ redisUrl, admit: (c) => admit(c, credentials), log });
    const staging = await openStaging(
      { ...storage, dataDir: order.dataDir },
      createStorageTrouble(log).watch('staging'),
    );
    const api = await startApi({
      ...order,
      ...settings,
      log,
      startDeletionJobs: (work) => startDeletionJobs({ redisUrl, schedule, work, log }),
      operations: {
        store: { staging, now: () => new Date(), askRedis: dashboard.askRedis },
        credentials,
        producers: createProducers(order.dataDir),
        async assertKeys(name) {
          const { manifest } = await loadStoredManifest(staging, name);
          const env = readEnvironment();
          readApiKey(manifest, env);
          readHashKey(manifest, env);
        },
        countJobs: dashboard.countJobs,
      },
      extraRoutes: (app) => void app.route('/', dashboard.routes),
    });
    const { url, waitingFor } = api;
    reply({ kind: 'ready', url, ...(waitingFor === undefined ? {} : { waitingFor }) });
    await Promise.race([orphaned, terminated]);
    // Nobody is left to end this process should closing hang.
    setTimeout(() => process.exit(1), STOP_BOUND_MS).unref();
    await api.close();
    await dashboard.close();
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    const code = error instanceof BackhaulError ? error.code : 'bug';
    reply({ kind: 'failed', code, message: getMessage(error) }, () => process.exit(1));
  }
}

function reply(message: ApiReply, written?: () => void): void {
  process.stdout.write(`${JSON.stringify(message)}\n`, written);
}
