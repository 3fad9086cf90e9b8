import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Db } from '../../../src/server/database/db.ts';
import { migrate } from '../../../src/server/database/migrate.ts';
import { createPoolDb } from '../../../src/server/database/pool.ts';
import { type PostgresForTests, runStatement, toDatabaseUrl } from '../../support/one-postgres.ts';
import { silent } from '../../support/silent.ts';

const postgres = inject('postgres');
const newName = () => `backhaul_odd_${randomBytes(6).toString('hex')}`;

describe.skipIf(typeof postgres !== 'object')('a server whose settings are not those of a new one', () => {
  const { url } = postgres as PostgresForTests;
  const database = newName();
  const SETTINGS = {
    datestyle: 'SQL, DMY',
    timezone: 'America/St_Johns', // its days before 1935 begin at 3:30:52
    extra_float_digits: '0',
    intervalstyle: 'sql_standard',
    standard_conforming_strings: 'off',
    default_transaction_isolation: 'serializable',
    statement_timeout: '20ms',
    lock_timeout: '20ms',
    idle_session_timeout: '2s',
    synchronous_commit: 'off',
  };
  let db: Db;
  beforeAll(async () => {
    await runStatement(url, `create database ${database}`);
    for (const [name, value] of Object.entries(SETTINGS))
      await runStatement(url, `alter database ${database} set ${name} to '${value}'`);
    db = createPoolDb(toDatabaseUrl(url, database), silent);
  });
  afterAll(async () => {
    await db.close();
    await runStatement(url, `drop database ${database}`);
  });

  test('gets the tables, and writes times and numbers as any other', async () => {
    await migrate(db);
    const rows =
      await db.query(`select '1850-01-02T03:04:05.678Z'::timestamptz as old, 0.1::float8 + 0.2 as sum,
      '03/04/2024'::timestamp at time zone 'UTC' as month_first, '\\n' as backslash`);
    expect(rows).toEqual([
      {
        old: '1850-01-02T03:04:05.678Z',
        sum: 0.1 + 0.2,
        month_first: '2024-03-04T00:00:00.000Z',
        backslash: '\\n',
      },
    ]);
  });

  test('ends no statement and no connection before Backhaul does', async () => {
    const limits = ['statement_timeout', 'lock_timeout', 'idle_session_timeout'];
    const rows = await db.query('select setting from pg_settings where name = any($1)', [limits]);
    expect(rows).toEqual(limits.map(() => ({ setting: '0' })));
    await db.query('select pg_sleep(0.1)');
  });

  test('commits nothing that a crash would take back, also where a pooler gives each transaction a connection', async () => {
    const show = 'show synchronous_commit';
    expect(await db.query(show)).toEqual([{ synchronous_commit: 'on' }]);
    const pooled = await db.transaction(async (tx) => {
      await tx.query('commit');
      await tx.query('set synchronous_commit to off');
      return tx.query(show);
    });
    expect(pooled).toEqual([{ synchronous_commit: 'off' }]);
    expect(await db.transaction((tx) => tx.query(show))).toEqual([{ synchronous_commit: 'on' }]);
  });

  test('keeps what standbys are waited for', async () => {
    const other = newName();
    await runStatement(url, `create database ${other}`);
    await runStatement(url, `alter database ${other} set synchronous_commit to 'remote_apply'`);
    const strict = createPoolDb(toDatabaseUrl(url, other), silent);
    const rows = await strict.transaction((tx) => tx.query('show synchronous_commit'));
    await strict.close();
    await runStatement(url, `drop database ${other}`);
    expect(rows).toEqual([{ synchronous_commit: 'remote_apply' }]);
  });

  test('lets transactions at once change one row, each after the other', async () => {
    await db.query('create table counts (count integer)');
    await db.query('insert into counts values (0)');
    const add = () =>
      db.transaction(async (tx) => {
        await tx.query('select count from counts');
        await tx.query('update counts set count = count + 1');
      });
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await db.query('select count from counts')).toEqual([{ count: 20 }]);
  });
});

test.skipIf(typeof postgres !== 'object')(
  'a database that is not in UTF8 is refused at the start',
  async () => {
    const { url } = postgres as PostgresForTests;
    const database = newName();
    await runStatement(url, `create database ${database} encoding 'LATIN1' locale 'C' template template0`);
    const db = createPoolDb(toDatabaseUrl(url, database), silent);
    try {
      await expect(migrate(db)).rejects.toThrow('The database has the encoding LATIN1');
    } finally {
      await db.close();
      await runStatement(url, `drop database ${database}`);
    }
  },
);
