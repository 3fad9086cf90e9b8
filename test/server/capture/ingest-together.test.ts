import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { changeProject, createProjectKey } from '../../../src/server/auth/projects.ts';
import { ingestWithin } from '../../../src/server/capture/ingest/ingest.ts';
import { MAX_PROFILE_CHARACTERS } from '../../../src/server/capture/limits.ts';
import type { Db, Queryable } from '../../../src/server/database/db.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onBothDatabases } from '../../support/databases.ts';
import { until } from '../../support/until.ts';

/** Counts the transactions that the API commits, and notes what they prepare. */
function counting(db: Db): { db: Db; count: () => number; prepared: ReadonlySet<string> } {
  let commits = 0;
  const prepared = new Set<string>();
  const noting = (tx: Queryable): Queryable => ({
    query(text, params, options) {
      if (options?.prepared === true) prepared.add(text);
      return tx.query(text, params, options);
    },
  });
  return {
    prepared,
    db: {
      ...db,
      async transaction(run, use) {
        const result = await db.transaction((tx) => run(noting(tx)), use);
        commits += 1;
        return result;
      },
    },
    count: () => commits,
  };
}

onBothDatabases('small requests at a time', (db) => {
  let api: TestApi;
  let commits: () => number;
  let prepared: () => ReadonlySet<string>;
  beforeAll(async () => {
    const counted = counting(db());
    api = await createTestApi(counted.db);
    commits = counted.count;
    prepared = () => counted.prepared;
  });

  const capture = (over: Record<string, unknown> = {}) =>
    api.post('/capture/', {
      api_key: api.project.projectKey,
      event: 'seen',
      distinct_id: 'ada',
      uuid: randomUUID(),
      timestamp: '2024-01-01T00:00:00Z',
      ...over,
    });
  const statuses = async (requests: Promise<Response>[]) =>
    (await Promise.all(requests)).map(({ status }) => status);
  const countEvents = async (name: string) => {
    const [row] = await db().query<{ count: number }>(
      'select count(*) as count from events where project_id = $1 and event = $2',
      [api.project.id, name],
    );
    return row?.count;
  };

  test('share a commit, and each is stored once', async () => {
    await capture();
    const before = commits();
    const uuid = randomUUID();
    const twice = [capture({ event: 'shared', uuid }), capture({ event: 'shared', uuid })];
    const others = Array.from({ length: 20 }, (_, at) =>
      capture({ event: 'shared', distinct_id: `id-${at}` }),
    );
    expect(await statuses([...twice, ...others])).toEqual(Array(22).fill(200));
    expect(await countEvents('shared')).toBe(21);
    expect(commits() - before).toBeLessThan(8);
  });

  test('keep plans that find rows by an index, though they were made while there were none', async () => {
    await capture({ event: 'planned' });
    await db().transaction(async (tx) => {
      await tx.query("select set_config('plan_cache_mode', 'force_generic_plan', true)");
      await tx.query("select set_config('enable_seqscan', 'off', true)");
      let count = 0;
      for (const text of prepared()) {
        const params = new Set(text.match(/\$\d+/g)).size;
        await tx.query(`prepare planned_${count} as ${text}`);
        const values = Array(params).fill('null').join(', ');
        const rows = await tx.query<{ 'QUERY PLAN': string }>(
          `explain execute planned_${count}${params === 0 ? '' : `(${values})`}`,
        );
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).not.toContain('Seq Scan');
        if (text.includes('from events')) {
          expect(plan).toContain('events_by_uuid');
          expect(plan).toMatch(/Index Cond: .*distinct_id = given/);
        }
        await tx.query(`deallocate planned_${count}`);
        count += 1;
      }
      expect(count).toBeGreaterThan(2);
    });
  });

  test('one that cannot be accepted does not refuse the others', async () => {
    const answers = await statuses([
      capture({ event: 'good' }),
      capture({ event: 'good', uuid: 'no uuid' }),
      capture({ event: 'good', api_key: 'phc_nobody' }),
      capture({ event: 'good' }),
    ]);
    expect(answers).toEqual([200, 400, 401, 200]);
    expect(await countEvents('good')).toBe(2);
  });

  test('a change that is too large for a person takes none of the others with it', async () => {
    const half = 'x'.repeat(MAX_PROFILE_CHARACTERS / 16);
    const set = (key: string) =>
      capture({ distinct_id: 'large', event: '$set', properties: { $set: { [key]: half } } });
    expect(await statuses(Array.from({ length: 17 }, (_, at) => set(`k${at}`)))).toEqual(Array(17).fill(200));
    const [row] = await db().query<{ count: number }>(
      `select count(*) as count from persons p, jsonb_object_keys(p.properties) as k
        where p.project_id = $1 and k like 'k%'`,
      [api.project.id],
    );
    expect(row?.count).toBe(15);
  });

  test('know what another process has stored while they waited for its lock', async () => {
    await capture();
    const uuid = randomUUID();
    const event = { uuid, event: 'meanwhile', distinctId: 'ada', timestamp: '2024-01-01T00:00:00.000Z' };
    let isLocked = () => {};
    const locked = new Promise<void>((resolve) => {
      isLocked = resolve;
    });
    const stored = db().transaction(async (tx) => {
      await ingestWithin(tx, api.project.id, [
        { ...event, properties: {}, propertiesText: Buffer.from('{}') },
      ]);
      isLocked();
      // The embedded database has one connection, for which the request waits.
      if (db().kind === 'pglite') return;
      await until('a request that waits', async () => {
        const [waiting] = await tx.query(
          `select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
        );
        return waiting;
      });
    });
    await locked;
    const late = capture({ event: 'meanwhile', uuid });
    await stored;
    expect((await late).status).toBe(200);
    expect(await countEvents('meanwhile')).toBe(1);
  });

  test('a key that was replaced stops working at once', async () => {
    await capture();
    await changeProject(db(), api.project.id, { projectKey: createProjectKey() });
    expect(await statuses([capture(), capture({ uuid: 'no uuid' })])).toEqual([401, 401]);
    await changeProject(db(), api.project.id, { projectKey: api.project.projectKey });
  });
});
