import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Settings } from '../../config/settings.ts';
import { type Checks, runChecks } from '../lib/async/run-checks.ts';
import { ConfigError, getMessage } from '../lib/errors.ts';
import type { Runtime } from './runtime.ts';

/** Below the timeouts of the probes in docker-compose.yml and deploy/kubernetes. */
const CHECK_WITHIN_MS = 2_000;

export interface HealthServer {
  close(): void;
}

/**
 * Answers the probes of a worker, where BACKHAUL_WORKER_PORT is set: /healthz is 200 while the process works on its
 * events, /readyz while Redis and staging can be reached. A Redis that is away is no reason to restart a worker,
 * which waits for it.
 */
export async function startHealthServer(
  { host, workerPort: port }: Pick<Settings, 'host' | 'workerPort'>,
  { redis, staging }: Pick<Runtime, 'redis' | 'staging'>,
): Promise<HealthServer> {
  if (port === undefined) return { close: () => {} };
  const checks: Checks = {
    redis: () => redis.ping(),
    staging: () => staging.get('_migrations/none.json'),
  };
  const server = createServer((request, response) => void respond(request.url ?? '', checks, response));
  server.unref();
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ConfigError(
      `The worker cannot answer on ${host}:${port}, as BACKHAUL_WORKER_PORT and BACKHAUL_HOST say: ${getMessage(error)}. Choose another port, or unset BACKHAUL_WORKER_PORT.`,
    );
  }
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function respond(path: string, checks: Checks, response: ServerResponse): Promise<void> {
  const health =
    path === '/healthz'
      ? await runChecks({})
      : path === '/readyz' && (await runChecks(checks, CHECK_WITHIN_MS));
  if (health === false) {
    response.writeHead(404).end();
    return;
  }
  response
    .writeHead(health.status === 'ok' ? 200 : 503, { 'content-type': 'application/json' })
    .end(JSON.stringify(health));
}
