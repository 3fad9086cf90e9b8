import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seedSchema } from '../../config/seed.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import { createProgress } from '../../src/server/database/move/progress.ts';
import { createPgliteDb } from '../../src/server/database/pglite.ts';
import { type RunningApi, startApi } from '../../src/server/server.ts';
import { toBuilt } from '../support/build.ts';
import { copyEmptyPglite } from '../support/empty-pglite.ts';
import { ALL } from '../support/form.ts';
import { silent } from '../support/silent.ts';

const bootstrap = { projectKey: 'phc_server', personalKey: 'phx_server' };
const authorization = { authorization: `Bearer ${bootstrap.personalKey}` };

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'backhaul-api-'));
});
afterAll(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10 }));

describe('the API of this process', () => {
  let api: RunningApi;
  beforeAll(async () => {
    await copyEmptyPglite(join(dataDir, 'own/database'));
    api = await startApi({
      dataDir: join(dataDir, 'own'),
      port: 0,
      log: silent,
      bootstrap,
      seed: seedSchema.parse({ cohorts: [{ name: 'Guests', is_static: true }] }),
      requestTimeoutMs: 500,
      extraRoutes: (app) => app.get('/extra/page.html', (c) => c.text('extra')),
    });
  });
  afterAll(() => api.close());

  test('listens on the loopback address only, unless told otherwise', () => {
    expect(api.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test('has the keys of its starter, with every scope', async () => {
    const body = JSON.stringify({ api_key: bootstrap.projectKey, event: 'e', distinct_id: 'd' });
    expect((await fetch(`${api.url}/capture/`, { method: 'POST', body })).status).toBe(200);
    const response = await fetch(`${api.url}/api/projects/@current/events/`, { headers: authorization });
    expect(await response.json()).toMatchObject({
      results: [{ event: 'e', properties: { $ip: '127.0.0.1' } }],
    });
  });

  test('has what its seed declares', async () => {
    const response = await fetch(`${api.url}/api/projects/@current/cohorts/`, { headers: authorization });
    expect(await response.json()).toMatchObject({ count: 1, results: [{ name: 'Guests', is_static: true }] });
  });

  test('answers on routes that were added, and tells that it is well', async () => {
    expect(await (await fetch(`${api.url}/extra/page.html`)).text()).toBe('extra');
    expect(await (await fetch(`${api.url}/healthz`)).json()).toEqual({ status: 'ok' });
  });

  test('cuts off a client that never sends the rest of its body, and continues answering', async () => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.write('POST /batch/ HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"api_key":');
    let said = '';
    socket.on('data', (chunk) => {
      said += chunk.toString();
    });
    await once(socket, 'close');
    expect(said).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);
  });

  test('says what to do when the port is taken', async () => {
    const port = Number(new URL(api.url).port);
    // It opens its database first, and creating one takes longer than a busy machine has for a test.
    await copyEmptyPglite(join(dataDir, 'second/database'));
    const second = startApi({ dataDir: join(dataDir, 'second'), port, log: silent });
    await expect(second).rejects.toThrow(ConfigError);
    await expect(second).rejects.toThrow(/EADDRINUSE.*Choose another port with BACKHAUL_PORT/);
  });
});

test('a database that was moved by half is not served', async () => {
  const folder = join(dataDir, 'half');
  await copyEmptyPglite(join(folder, 'database'));
  const db = createPgliteDb(join(folder, 'database'));
  await createProgress(db, 'another');
  await db.close();
  await expect(startApi({ dataDir: folder, port: 0, log: silent, bootstrap })).rejects.toThrow(
    /did not finish.*repeat "backhaul database move"/,
  );
});

describe('the compiled API, its database in a thread', () => {
  const children: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
  });

  /** Starts the API in a process of its own. */
  async function start(folder: string): Promise<{ child: ChildProcess; url: string }> {
    const program = `
      import pino from 'pino';
      const { startApi } = await import(${JSON.stringify(toBuilt('src/server/server.js'))});
      const api = await startApi({
        dataDir: ${JSON.stringify(folder)}, port: 0, log: pino({ level: 'silent' }),
        bootstrap: ${JSON.stringify(bootstrap)},
      });
      console.log(api.url);
      process.once('SIGTERM', () => api.close().then(() => console.log('closed')));
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const died = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`the API ended with ${code}`)),
    );
    const line = once(createInterface({ input: child.stdout }), 'line');
    const [url] = await Promise.race([line, died]);
    died.catch(() => undefined); // its end is the tests' own doing from here on
    return { child, url: String(url) };
  }

  const batch = (uuids: readonly string[]) => ({
    api_key: bootstrap.projectKey,
    historical_migration: true,
    batch: uuids.map((uuid) => ({
      uuid,
      event: 'e',
      timestamp: '2020-01-01T00:00:00Z',
      properties: { distinct_id: uuid },
    })),
  });

  // The short form has the kills of capture/process.test.ts.
  test.runIf(ALL)(
    'has everything it ever answered 200 for after kill -9, however often that happens',
    async () => {
      const folder = join(dataDir, 'killed');
      await copyEmptyPglite(join(folder, 'database'));
      const acknowledged = new Set<string>();
      for (let round = 0; round < 3; round++) {
        const { child, url } = await start(folder);
        const ended = once(child, 'exit');
        for (let sent = 0; ; sent++) {
          const uuids = Array.from({ length: 200 }, () => randomUUID());
          const request = fetch(`${url}/batch/`, { method: 'POST', body: JSON.stringify(batch(uuids)) });
          if (sent === 3) child.kill('SIGKILL'); // while the last request is under way
          const accepted = await request.then(({ status }) => status === 200).catch(() => false);
          if (!accepted) break;
          for (const uuid of uuids) acknowledged.add(uuid);
        }
        await ended;
      }
      const { child, url } = await start(folder);
      const response = await fetch(`${url}/api/projects/@current/events/ids.ndjson`, {
        headers: authorization,
      });
      const stored = (await response.text())
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { uuid: string }).uuid);
      expect(acknowledged.size).toBeGreaterThanOrEqual(1800);
      expect([...acknowledged].filter((uuid) => !stored.includes(uuid))).toEqual([]);
      expect(new Set(stored).size).toBe(stored.length);

      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect((await ended)[0]).toBe(0); // nothing is left running once it is closed
    },
    120_000,
  );

  // Making one takes ten times the CPU of copying one; in npm test: test/server/database/pglite-files.test.ts.
  test.runIf(ALL)(
    'makes its first database within the memory that it then needs',
    async () => {
      const { child, url } = await start(join(dataDir, 'first'));
      const send = () =>
        fetch(`${url}/batch/`, { method: 'POST', body: JSON.stringify(batch([randomUUID()])) });
      let { status: answer } = await send();
      while (answer === 503) answer = (await send()).status; // a slow machine is not ready yet
      expect(answer).toBe(200);
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      const peakKb = /VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? '0'; // not every system tells
      expect(Number(peakKb) / 1024).toBeLessThan(500);
    },
    120_000,
  );

  test('carries rows, lists and errors of Postgres across the thread', async () => {
    const folder = await copyEmptyPglite(join(dataDir, 'thread'));
    const compiled = (await import(toBuilt('src/server/database/pglite.js'))) as {
      createPgliteDb(dir: string): import('../../src/server/database/db.ts').Db;
    };
    const db = compiled.createPgliteDb(folder);
    expect(await db.query('select $1::text[] as list, 5::bigint as n', [['a', 'b']])).toEqual([
      { list: ['a', 'b'], n: 5 },
    ]);
    await expect(db.query('select 1/0')).rejects.toMatchObject({ name: 'WorkerSqlError', code: '22012' });
    const rolledBack = db.transaction(async (tx) => {
      await tx.query('create table t (a integer)');
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await expect(db.query('select * from t')).rejects.toMatchObject({ code: '42P01' });
    await db.close();
    await expect(db.query('select 1')).rejects.toThrow('the database is closed');
  });
});
