import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isOutage } from '../../src/server/database/outage.ts';
import { createPoolDb } from '../../src/server/database/pool.ts';
import { startApi } from '../../src/server/server.ts';
import { type ApiProcess, startApiProcess } from '../support/api-process.ts';
import { type RunningPostgres, startPostgres } from '../support/postgres.ts';
import { silent } from '../support/silent.ts';
import { until } from '../support/until.ts';

/** A PostgreSQL server that goes away, in the middle of transactions too, and comes back. */
const keys = { projectKey: 'phc_outage', personalKey: 'phx_outage' };
const authorization = { authorization: `Bearer ${keys.personalKey}` };
const IN_FLIGHT = 4;
const EVENTS = 100;

const postgres = await startPostgres();
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'backhaul-outage-'));
});
afterAll(async () => {
  await postgres?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
});

test('a PostgreSQL server is there to test with', () => {
  if (postgres === undefined) expect(process.env['CI']).not.toBe('true');
});

describe.skipIf(postgres === undefined)('a database that goes away', () => {
  const server = postgres as RunningPostgres;
  let api: ApiProcess;
  beforeAll(async () => {
    api = await startApiProcess({ dataDir, keys, databaseUrl: server.url });
  });
  afterAll(async () => {
    api.child.kill('SIGKILL');
    await api.ended;
  });

  /** A session of the test's own. */
  async function openSession(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => {}); // it goes away with the server
    await client.connect();
    return client;
  }

  const accepted = new Set<string>();
  const statuses = new Set<number>();

  /** Sends one batch again and again until it is accepted, as every sender does. */
  async function sendBatch(): Promise<void> {
    const uuids = Array.from({ length: EVENTS }, () => randomUUID());
    const batch = uuids.map((uuid) => ({
      uuid,
      event: 'e',
      timestamp: '2021-01-01T00:00:00Z',
      properties: { distinct_id: uuid },
    }));
    const body = JSON.stringify({ api_key: keys.projectKey, historical_migration: true, batch });
    await until('a batch to be accepted', async () => {
      const response = await fetch(`${api.url}/batch/`, { method: 'POST', body });
      statuses.add(response.status);
      if (response.status === 503) expect(response.headers.get('retry-after')).toBe('1');
      return response.status === 200 || undefined;
    });
    for (const uuid of uuids) accepted.add(uuid);
  }

  async function expectExactly(): Promise<void> {
    const stored = await fetch(`${api.url}/api/projects/@current/events/ids.ndjson`, {
      headers: authorization,
    });
    const lines = (await stored.text()).trimEnd().split('\n');
    const uuids = lines.map((line) => (JSON.parse(line) as { uuid: string }).uuid);
    expect(uuids.length).toBe(new Set(uuids).size);
    expect(uuids.filter((uuid) => !accepted.has(uuid))).toEqual([]);
    expect(uuids.length).toBe(accepted.size);
    const persons = await fetch(`${api.url}/api/projects/@current/persons/?limit=1`, {
      headers: authorization,
    });
    expect(await persons.json()).toMatchObject({ count: accepted.size });
  }

  test.each(['SIGINT', 'SIGQUIT', 'SIGKILL'] as const)(
    'ended by %s in the middle of transactions: 503 with Retry-After, then it continues, and every event is stored once',
    async (signal) => {
      await sendBatch();
      statuses.clear();
      // A lock that every ingestion takes keeps the transactions open until the server ends.
      const session = await openSession();
      const [project] = (await session.query<{ id: number }>('select min(id) as id from projects')).rows;
      await session.query('select pg_advisory_lock(1936024435, $1)', [project?.id]);
      const sending = Array.from({ length: IN_FLIGHT }, sendBatch);
      const watch = await openSession();
      await until('all of them to be in a transaction', async () => {
        const waiting = await watch.query(`select from pg_locks where locktype = 'advisory' and not granted`);
        return waiting.rowCount === IN_FLIGHT || undefined;
      });
      await server.end(signal);
      await until('a 503', () => statuses.has(503) || undefined);
      expect((await fetch(`${api.url}/healthz`)).status).toBe(503);
      expect((await fetch(`${api.url}/api/projects/`, { headers: authorization })).status).toBe(503);
      await server.startAgain();
      await Promise.all(sending);
      await sendBatch();
      expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 503]);
      await expectExactly();
    },
    120_000,
  );

  test('a statement that an administrator cancels is a 503 with Retry-After, and every event is stored once', async () => {
    statuses.clear();
    const session = await openSession();
    const [project] = (await session.query<{ id: number }>('select min(id) as id from projects')).rows;
    await session.query('select pg_advisory_lock(1936024435, $1)', [project?.id]);
    const sending = sendBatch();
    await until('a statement to be cancelled', async () => {
      const waiting = await session.query(
        `select pg_cancel_backend(pid) from pg_locks where locktype = 'advisory' and not granted`,
      );
      return waiting.rowCount === 1 || undefined;
    });
    await until('an answer', () => statuses.size > 0 || undefined);
    await session.end();
    await sending;
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 503]);
    await expectExactly();
  });

  test('a server that only reads, as a standby before it is promoted, is an outage as well', async () => {
    const session = await openSession();
    const setReadOnly = async (value: 'on' | 'off') => {
      await session.query('set default_transaction_read_only = off');
      await session.query(`alter system set default_transaction_read_only = ${value}`);
      await session.query('select pg_reload_conf()');
    };
    await setReadOnly('on');
    statuses.clear();
    // A session that is open learns of the setting some time later.
    const sendThroughIt = async () => {
      do await sendBatch();
      while (!statuses.has(503));
    };
    const sending = sendThroughIt();
    await until('a 503', () => statuses.has(503) || undefined);
    await setReadOnly('off');
    await sending;
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([200, 503]);
    await session.end();
    await expectExactly();
  });

  test('an API that is started before its database answers 503, and works once it is there', async () => {
    await server.end('SIGINT');
    const early = await startApi({
      dataDir: join(dataDir, 'early'),
      databaseUrl: server.url.replace('/postgres?', '/template1?'), // without tables
      port: 0,
      log: silent,
      bootstrap: keys,
    });
    onTestFinished(() => early.close());
    expect(early.waitingFor).toMatch(/DATABASE_URL.*Start that server/);
    const capture = () =>
      fetch(`${early.url}/capture/`, {
        method: 'POST',
        body: JSON.stringify({ api_key: keys.projectKey, event: 'e', distinct_id: 'd' }),
      });
    const refused = await capture();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${early.url}/healthz`)).status).toBe(503);
    await server.startAgain();
    await until('the API to be ready', async () => (await capture()).status === 200 || undefined);
    expect((await fetch(`${early.url}/healthz`)).status).toBe(200);
  });

  test('a server that disappears without a word ends no wait but the statement', async () => {
    // Connections stay open and nothing comes through: the host of a failover that has lost its network.
    let cut = false;
    const sockets = new Set<Socket>();
    const proxy = createServer((client) => {
      if (cut) {
        client.destroy();
        return;
      }
      const behind = connect(server.socketPath);
      for (const [from, to] of [
        [client, behind],
        [behind, client],
      ] as const) {
        sockets.add(from);
        from.on('error', () => to.destroy());
        from.on('data', (bytes) => void (cut || to.write(bytes)));
        from.on('close', () => to.destroy());
      }
    }).listen(0, '127.0.0.1');
    await until('the proxy', () => (proxy.listening ? true : undefined));
    const address = proxy.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    const db = createPoolDb(`postgresql://backhaul@127.0.0.1:${address.port}/postgres`, silent, {
      answerWithinMs: 500,
    });
    onTestFinished(async () => {
      await db.close();
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
    const ask = () => db.transaction((tx) => tx.query('select 1 as one'));
    expect(await ask()).toEqual([{ one: 1 }]);
    cut = true;
    expect(await ask().catch(isOutage)).toBe(true);
    expect(await db.query('select 1').catch(isOutage)).toBe(true);
    cut = false;
    expect(await ask()).toEqual([{ one: 1 }]);
  });
});
