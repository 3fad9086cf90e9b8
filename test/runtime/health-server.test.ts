import { afterEach, expect, it } from 'vitest';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { type HealthServer, startHealthServer } from '../../src/runtime/health-server.ts';

type Deps = Parameters<typeof startHealthServer>[1];

const opened: HealthServer[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

const host = '127.0.0.1';
const createDeps = (ping: () => Promise<string>) =>
  ({ redis: { ping }, staging: { get: async () => undefined } }) as unknown as Deps;

async function start(ping: () => Promise<string>) {
  const workerPort = await findFreePort();
  opened.push(await startHealthServer({ host, workerPort }, createDeps(ping)));
  const ask = async (path: string) => {
    const response = await fetch(`http://${host}:${workerPort}${path}`);
    return [response.status, response.ok || response.status === 503 ? await response.json() : undefined];
  };
  return { workerPort, ask };
}

it('a worker is ready while Redis and staging answer', async () => {
  const { ask } = await start(async () => 'PONG');
  expect(await ask('/readyz')).toEqual([200, { status: 'ok', checks: { redis: 'ok', staging: 'ok' } }]);
  expect(await ask('/healthz')).toEqual([200, { status: 'ok', checks: {} }]);
  expect(await ask('/')).toEqual([404, undefined]);
});

it('a worker without Redis is alive and not ready, and says nothing of the reason', async () => {
  const { ask } = await start(() => Promise.reject(new Error('redis://:secret@queue:6379 is away')));
  const checks = { redis: 'unavailable', staging: 'ok' };
  expect(await ask('/readyz')).toEqual([503, { status: 'unavailable', checks }]);
  expect(await ask('/healthz')).toEqual([200, { status: 'ok', checks: {} }]);
});

it('a port that is taken is a mistake of the settings', async () => {
  const { workerPort } = await start(async () => 'PONG');
  const again = startHealthServer(
    { host, workerPort },
    createDeps(async () => 'PONG'),
  );
  await expect(again).rejects.toThrow(ConfigError);
  await expect(again).rejects.toThrow(/BACKHAUL_WORKER_PORT/);
});

it('a worker without the setting listens nowhere', async () => {
  const server = await startHealthServer(
    { host },
    createDeps(async () => 'PONG'),
  );
  expect(server.close()).toBeUndefined();
});
