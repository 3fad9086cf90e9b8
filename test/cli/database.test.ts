import { mkdtemp, rm } from 'node:fs/promises';
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
    },
    120_000,
  );
});
