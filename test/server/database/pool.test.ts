import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Db, Queryable } from '../../../src/server/database/db.ts';
import { createPoolDb } from '../../../src/server/database/pool.ts';
import { type PostgresForTests, runStatement, toDatabaseUrl } from '../../support/one-postgres.ts';
import { silent } from '../../support/silent.ts';

const postgres = inject('postgres');

describe.skipIf(typeof postgres !== 'object')('a transaction on a server', () => {
  const { url } = postgres as PostgresForTests;
  const database = `backhaul_pool_${randomBytes(6).toString('hex')}`;
  let db: Db;
  let wire: Wire;
  beforeAll(async () => {
    await runStatement(url, `create database ${database}`);
    wire = await watchWire(toDatabaseUrl(url, database));
    db = createPoolDb(wire.url, silent);
    await db.query('create table colours (name text primary key, like_name text)');
    await db.query(`alter table colours add constraint known
      foreign key (like_name) references colours (name) deferrable initially deferred`);
  });
  afterAll(async () => {
    await db.close();
    await wire.stop();
    await runStatement(url, `drop database ${database}`);
  });
  beforeEach(async () => void (await db.query('delete from colours')));

  const ADD = 'insert into colours values ($1, $2)';
  const list = async () =>
    (await db.query<{ name: string }>('select name from colours')).map(({ name }) => name);
  const addTwo = async (tx: Queryable) => {
    await tx.query(ADD, ['red', null]);
    await tx.query(ADD, ['blue', null], { sendWith: 'commit' });
  };

  test('asks twice, where reading goes with begin and writing with commit', async () => {
    wire.requests = 0;
    const read = await db.transaction(async (tx) => {
      const both = await Promise.all([
        tx.query('select 1 as one', [], { sendWith: 'begin' }),
        tx.query('select current_setting($1) as level', ['transaction_isolation'], { sendWith: 'begin' }),
      ]);
      await tx.query(ADD, ['red', null], { sendWith: 'commit' });
      return both.flat();
    });
    expect(read).toEqual([{ one: 1 }, { level: 'read committed' }]);
    expect(wire.requests).toBe(2);
    expect(await list()).toEqual(['red']);
  });

  test('asks for each statement otherwise', async () => {
    wire.requests = 0;
    await db.transaction(async (tx) => {
      await tx.query('select 1');
      await tx.query(ADD, ['red', null]);
    });
    expect(wire.requests).toBe(4);
  });

  test('stores nothing where the statement that goes with commit fails', async () => {
    await db.query(ADD, ['blue', null]);
    await expect(db.transaction(addTwo)).rejects.toMatchObject({ code: '23505' });
    expect(await list()).toEqual(['blue']);
  });

  test('fails where the commit does, after its statement has gone well', async () => {
    const orphan = db.transaction((tx) => tx.query(ADD, ['green', 'grass'], { sendWith: 'commit' }));
    await expect(orphan).rejects.toMatchObject({ code: '23503' });
    expect(await list()).toEqual([]);
  });

  test('stores nothing where it ends before the statement that goes with commit', async () => {
    const stopped = db.transaction(async (tx) => {
      await tx.query(ADD, ['red', null]);
      throw new Error('stopped');
    });
    await expect(stopped).rejects.toThrow('stopped');
    expect(await list()).toEqual([]);
  });

  test('stores nothing where the connection is lost', async () => {
    const lost = db.transaction(async (tx) => {
      const read = tx.query('select pg_terminate_backend(pg_backend_pid())', [], { sendWith: 'begin' });
      await Promise.allSettled([read]);
      await addTwo(tx);
    });
    await expect(lost).rejects.toThrow('Connection terminated');
    expect(await list()).toEqual([]);
  });

  test('writes nothing outside of it where its begin fails', async () => {
    wire.refuseBegin = true;
    await expect(db.transaction(addTwo)).rejects.toMatchObject({ code: '42601' });
    const read = db.transaction((tx) => tx.query('select 1 / 0', [], { sendWith: 'begin' }));
    await expect(read, 'what comes first').rejects.toMatchObject({ code: '42601' });
    wire.refuseBegin = false;
    expect(await list()).toEqual([]);
    await db.transaction(addTwo);
    expect(await list()).toEqual(['red', 'blue']);
  });
});

interface Wire {
  readonly url: string;
  /** How often something was sent to the server after it had answered. */
  requests: number;
  /** Whether the server gets `begin` misspelled. */
  refuseBegin: boolean;
  stop(): Promise<void>;
}

/** A proxy in this process: what is sent in one turn of the event loop arrives in one piece. */
async function watchWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get('host') ?? undefined;
  const port = Number(target.port || target.searchParams.get('port') || 5432);
  const proxy: Server = createServer((client) => {
    const server =
      folder?.startsWith('/') === true
        ? connect(`${folder}/.s.PGSQL.${port}`)
        : connect({ host: folder ?? target.hostname, port });
    let isAnswered = true;
    client.on('data', (bytes) => {
      if (isAnswered) wire.requests += 1;
      isAnswered = false;
      const begin = bytes.indexOf('begin isolation');
      if (wire.refuseBegin && begin !== -1) bytes.write('begun', begin);
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      isAnswered = true;
      client.write(bytes);
    });
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const through = new URL(databaseUrl);
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as AddressInfo).port);
  through.searchParams.delete('host');
  through.searchParams.delete('port');
  const wire: Wire = {
    url: through.href,
    requests: 0,
    refuseBegin: false,
    async stop() {
      proxy.close();
      await once(proxy, 'close');
    },
  };
  return wire;
}
