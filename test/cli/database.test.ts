import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killAllBackhaul, runBackhaul, startBackhaul, waitForServices } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startPostgres } from '../support/postgres.ts';
import { readyDataDir } from '../support/ready-data-dir.ts';

const postgres = await startPostgres();
const url = postgres?.url ?? 'postgres://127.0.0.1:1/none';
let dataDir: string;
const move = (...options: string[]) => runBackhaul(['database', 'move', ...options], { dataDir });

beforeAll(async () => {
  dataDir = await readyDataDir(await mkdtemp(join(tmpdir(), 'backhaul-move-')));
});
afterAll(async () => {
  await killAllBackhaul();
  await postgres?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
});

it('a PostgreSQL server is there to test with', () => {
  if (postgres === undefined) expect(process.env['CI']).not.toBe('true');
});

describe.skipIf(postgres === undefined)('backhaul database move', () => {
  it('asks for a server, and for an embedded database', async () => {
    const nowhere = await move();
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('--to postgres://')]);
    const empty = await mkdtemp(join(tmpdir(), 'backhaul-move-empty-'));
    const nothing = await runBackhaul(['database', 'move', '--to', url], { dataDir: empty });
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('no embedded database')]);
    await rm(empty, { recursive: true });
  }, 60_000);

  // In npm test: test/server/database/move/move-database.test.ts, without processes.
  it.runIf(ALL)(
    'moves what was captured to a server, and only once',
    async () => {
      const server = startBackhaul(['serve'], { dataDir });
      const { api } = await waitForServices(dataDir, server);
      const batch = ['ann', 'bob'].map((id) => ({ event: 'e', properties: { distinct_id: id, exact: 1.5 } }));
      const response = await fetch(`${api?.url}/batch/`, {
        method: 'POST',
        body: JSON.stringify({ api_key: api?.projectKey, batch }),
      });
      expect(response.status).toBe(200);
      const busy = await move('--to', url);
      expect([busy.code, busy.stderr]).toEqual([2, expect.stringMatching(/in use by process \d+\. Stop it/)]);
      server.kill('SIGTERM');
      await server.ended;

      const away = await move('--to', 'postgres://user:secret@127.0.0.1:1/none');
      expect([away.code, away.stderr]).toEqual([5, expect.stringContaining('The same command continues')]);
      expect(away.stderr).not.toContain('secret');
      const moved = await move('--to', url, '--json');
      expect(moved.code, moved.stderr).toBe(0);
      expect(JSON.parse(moved.stdout).tables).toContainEqual({ name: 'events', rows: 2 });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query('select distinct_id from events order by 1');
      await client.end();
      expect(rows).toEqual([{ distinct_id: 'ann' }, { distinct_id: 'bob' }]);

      const again = await move('--to', url);
      expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('of its own')]);
      const another = new pg.Client({ connectionString: url });
      await another.connect();
      await another.query('create database elsewhere');
      await another.end();
      const elsewhere = await move('--to', url.replace('/postgres?', '/elsewhere?'));
      expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('server already')]);
    },
    120_000,
  );

  it.runIf(ALL)(
    'keeps a migration in one database, whichever of both a process is set to',
    async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('create database imports');
      await client.end();
      const databaseUrl = url.replace('/postgres?', '/imports?');
      const folder = await readyDataDir(await mkdtemp(join(tmpdir(), 'backhaul-move-one-')));
      const source = join(folder, 'source');
      await mkdir(source);
      const manifest = join(folder, 'one.json');
      const mapping = { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };
      await writeFile(
        manifest,
        JSON.stringify({ name: 'one', source: { type: 'jsonl', from: 'source', mapping } }),
      );
      const addFile = (name: string) =>
        writeFile(
          join(source, name),
          Array.from({ length: 10 }, (_, n) =>
            JSON.stringify({ e: 'e', u: `${name}-${n}`, t: '2024-02-03T04:05:06Z' }),
          ).join('\n'),
        );
      const topUp = (env: Record<string, string>) =>
        runBackhaul(['run', '--top-up', manifest], { dataDir: folder, env });
      const onServer = { DATABASE_URL: databaseUrl };
      await addFile('a.jsonl');
      expect(await runBackhaul(['run', manifest], { dataDir: folder })).toMatchObject({ code: 0 });

      await addFile('b.jsonl');
      const early = await topUp(onServer);
      expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('backhaul database move')]);
      const moved = await runBackhaul(['database', 'move'], { dataDir: folder, env: onServer });
      expect(moved.code, moved.stderr).toBe(0);
      const late = await topUp({});
      expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('set DATABASE_URL')]);
      expect(await topUp(onServer)).toMatchObject({ code: 0 });
      const there = new pg.Client({ connectionString: databaseUrl });
      await there.connect();
      const { rows } = await there.query("select count(*)::int as events from events where event = 'e'");
      await there.end();
      expect(rows).toEqual([{ events: 20 }]);
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
    300_000,
  );
});
