import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addFlag } from '../server/flags/flag-lab.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { ALL } from '../support/form.ts';
import { type ListeningApi, listenApi } from '../support/listening-api.ts';

/** The service's own browser client, unmodified, in a real browser, on a page of another origin. */
const CLIENTS = ['posthog-js-1-57', 'posthog-js-1-150', 'posthog-js-newest'];
const FOLDER = fileURLToPath(new URL('browser', import.meta.url));
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);

/** What the page reports of its client. */
interface Seen {
  readonly variants: Record<string, boolean | string>;
  readonly payload: unknown;
  readonly isOn: boolean;
}

/** Starts the client as the loader of the service does, and reports its flags once they are there. */
const toPage = (projectKey: string, apiUrl: string) => `<!doctype html><script>
  const report = (ph) => fetch('/seen', { method: 'POST', body: JSON.stringify({
    variants: ph.featureFlags.getFlagVariants(),
    payload: ph.getFeatureFlagPayload('everybody'),
    isOn: ph.isFeatureEnabled('everybody'),
  }) });
  window.posthog = [];
  posthog.__SV = 1;
  posthog._i = [[${JSON.stringify(projectKey)}, {
    api_host: ${JSON.stringify(apiUrl)},
    autocapture: false,
    disable_session_recording: true,
    bootstrap: { distinctID: 'ada', isIdentifiedID: true },
    loaded: (ph) => ph.onFeatureFlags(() => report(ph)),
  }]];
</script><script src="/client.js"></script>`;

describe.runIf(ALL && CHROMIUM !== undefined)('in a browser', () => {
  beforeAll(async () => {
    const isThere = CLIENTS.every((name) => existsSync(join(FOLDER, 'node_modules', name)));
    const args = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
    if (!isThere) await promisify(execFile)('npm', args, { cwd: FOLDER });
  }, 180_000);

  onEveryDatabase('unmodified clients', (db) => {
    let api: ListeningApi;
    let profile: string;
    beforeAll(async () => {
      api = await listenApi(db());
      profile = await mkdtemp(join(tmpdir(), 'backhaul-chromium-'));
      await api.send({
        event: '$set',
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: 'ada', $set: { plan: 'pro' } },
      });
      const flags = {
        everybody: { groups: [{}], payloads: { true: '{"a":1}' } },
        nobody: { groups: [{ rollout_percentage: 0 }] },
        pro: { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] },
        colour: { groups: [{}], multivariate: { variants: [{ key: 'red', rollout_percentage: 100 }] } },
      };
      for (const [key, filters] of Object.entries(flags)) {
        await addFlag(db(), api.project.id, key, filters);
      }
    });
    afterAll(async () => {
      await api.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    });

    test.each(CLIENTS)('%s has the flags of its person', { timeout: 120_000 }, async (name) => {
      const page = toPage(api.project.projectKey, api.url);
      const script = await readFile(join(FOLDER, 'node_modules', name, 'dist', 'array.js'));
      const { seen, variants, payload, isOn } = await visit(page, script, join(profile, name));
      expect(seen).toBe(true);
      expect(variants).toMatchObject({ everybody: true, pro: true, colour: 'red' });
      expect(variants['nobody'] ?? false).toBe(false);
      expect({ payload, isOn }).toEqual({ payload: { a: 1 }, isOn: true });
      expect(api.statuses.filter((status) => status >= 500)).toEqual([]);
    });
  });
});

/** Opens the page in a browser of its own until it reports. */
async function visit(page: string, script: Buffer, profile: string): Promise<Seen & { seen: boolean }> {
  let resolve: (seen: Seen) => void = () => {};
  const reported = new Promise<Seen>((done) => {
    resolve = done;
  });
  const server = createServer((request, response) => {
    if (request.url === '/client.js') response.setHeader('content-type', 'text/javascript').end(script);
    else if (request.url === '/seen') {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.end();
        resolve(JSON.parse(Buffer.concat(chunks).toString()) as Seen);
      });
    } else response.setHeader('content-type', 'text/html').end(page);
  });
  const port = await listen(server);
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    `--user-data-dir=${profile}`,
    `http://localhost:${port}/`,
  ];
  const browser = spawn(CHROMIUM ?? '', args, { stdio: 'ignore' });
  const ended = new Promise<never>((_, reject) => {
    browser.once('exit', (code) => reject(new Error(`the browser ended with ${code}`)));
  });
  try {
    return { seen: true, ...(await Promise.race([reported, ended])) };
  } finally {
    ended.catch(() => {});
    browser.kill('SIGKILL');
    server.close();
    server.closeAllConnections();
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
