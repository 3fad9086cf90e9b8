import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startApiProcess } from '../../src/embedded/api-process.ts';
import { isAlive } from '../../src/embedded/process-identity.ts';
import { createSupervisor, runsBundledApi } from '../../src/embedded/supervisor.ts';
import { DELETION_SCHEDULE } from '../../src/lib/cron.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { readyDataDir } from '../support/ready-data-dir.ts';
import { createDataDir, quiet, readIdentity, startOwnerProcess, waitUntilGone } from './support.ts';

// Each start creates or opens an embedded database, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const BOTH = { redis: true, api: true };

async function supervise(dataDir: string) {
  const supervisor = await createSupervisor({ dataDir, want: BOTH, log: quiet });
  onTestFinished(supervisor.close);
  const { api } = supervisor;
  if (api === undefined) throw new Error('no API');
  return { supervisor, api };
}

const send = (url: string, apiKey: string) =>
  fetch(`${url}/batch/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      api_key: apiKey,
      batch: [{ event: 'seen', properties: { distinct_id: 'ann' }, timestamp: '2024-01-01T00:00:00.000Z' }],
    }),
  });

/** Answers once the API is back: its supervisor restarts it, and until then the port refuses. */
async function sendWhenUp(url: string, apiKey: string): Promise<Response> {
  for (;;) {
    try {
      return await send(url, apiKey);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

test('the API answers with keys of its own, comes back when killed, and ends with its supervisor', async () => {
  const dataDir = await readyDataDir(createDataDir());
  const { supervisor, api } = await supervise(dataDir);
  expect(api.projectKey).toMatch(/^phc_[0-9A-Za-z]{43}$/);
  expect(api.personalKey).toMatch(/^phx_[0-9A-Za-z]{43}$/);
  expect(statSync(join(dataDir, 'keys.json')).mode & 0o777).toBe(0o600);
  expect((await send(api.url, api.projectKey)).status).toBe(200);
  expect((await send(api.url, 'phc_unknown')).status).toBe(401);
  expect((await fetch(`${api.url}/queues`)).status).toBe(401);
  const { user, password } = api.queues;
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const board = await fetch(`${api.url}/queues`, { headers: { authorization } });
  expect(board.status).toBe(200);
  expect(Object.fromEntries(board.headers)).toMatchObject({
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining("font-src 'self'"),
  });
  expect(await runsBundledApi(dataDir)).toBe(true);

  const first = readIdentity(join(dataDir, 'api.pid.json'));
  process.kill(first.pid, 'SIGKILL');
  await waitUntilGone(first);
  expect((await sendWhenUp(api.url, api.projectKey)).status).toBe(200);

  const second = readIdentity(join(dataDir, 'api.pid.json'));
  expect(second.pid).not.toBe(first.pid);
  await supervisor.close();
  expect(isAlive(second)).toBe(false);
  await expect(send(api.url, api.projectKey)).rejects.toThrow();

  const { api: next } = await supervise(dataDir);
  expect({ ...next, url: '' }).toEqual({ ...api, url: '' });
});

test('the API of a killed owner ends by itself', async () => {
  const dataDir = await readyDataDir(createDataDir());
  const owner = await startOwnerProcess(dataDir, BOTH);
  const api = readIdentity(join(dataDir, 'api.pid.json'));
  expect(isAlive(api)).toBe(true);
  owner.process.kill('SIGKILL');
  await waitUntilGone(api);
  await expect(send(owner.said.api?.url ?? '', 'phc_any')).rejects.toThrow();
});

test('what keeps the API from starting reaches the operator in its own words', async () => {
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void squatter.close());
  const address = squatter.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const failure = await startApiProcess({
    dataDir: await readyDataDir(createDataDir()),
    keys: { projectKey: 'phc_a', personalKey: 'phx_a' },
    redisUrl: 'redis://127.0.0.1:1',
    queues: { user: 'ann', password: 'a' },
    settings: { deletionSchedule: DELETION_SCHEDULE },
    port,
    log: quiet,
  }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect(String(failure)).toMatch(new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}`));
});
