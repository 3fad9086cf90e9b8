import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Db } from '../../src/server/database/db.ts';
import { migrate } from '../../src/server/database/migrate.ts';
import { createSerialDb } from '../../src/server/database/pglite.ts';
import { openPgliteSession } from '../../src/server/database/pglite-session.ts';
import { createPoolDb } from '../../src/server/database/pool.ts';
import { findPostgres, startPostgres } from './postgres.ts';
import { prepared } from './prepared.ts';

export const silent = pino({ level: 'silent' });

interface OpenedDb {
  readonly db: Db;
  close(): Promise<void>;
}

/**
 * Runs one suite on the embedded database, and on a real PostgreSQL where that can be had: the server of
 * TEST_DATABASE_URL (in a database made for the suite), or one started here. `suite` gets a way to the
 * database, migrated, which is there as soon as hooks and tests run.
 */
export function onEveryDatabase(name: string, suite: (db: () => Db) => void): void {
  describe(`${name} on PGlite`, () => runOn(openEmbedded, suite));
  if (process.env['TEST_DATABASE_URL'] === undefined && findPostgres() === undefined) {
    const missing = `${name}: no PostgreSQL here. Set TEST_DATABASE_URL or run: apt-get install -y postgresql`;
    if (process.env['CI'] === 'true') {
      test(`${name} on PostgreSQL`, () => {
        throw new Error(missing);
      });
    } else {
      console.warn(`skipped ${missing}`);
      describe.skip(`${name} on PostgreSQL`, () => suite(() => notThere(missing)));
    }
    return;
  }
  describe(`${name} on PostgreSQL`, () => runOn(openServer, suite));
}

function notThere(message: string): never {
  throw new Error(message);
}

function runOn(open: () => Promise<OpenedDb>, suite: (db: () => Db) => void): void {
  let opened: OpenedDb | undefined;
  beforeAll(async () => {
    opened = await open();
    await migrate(opened.db);
  });
  afterAll(() => opened?.close());
  suite(() => opened?.db ?? notThere('the database is opened in beforeAll'));
}

async function openEmbedded(): Promise<OpenedDb> {
  const initial = new Blob([new Uint8Array(readFileSync(await prepared(EMPTY_PGLITE, dumpEmptyPglite)))]);
  const db = createSerialDb(() => openPgliteSession(undefined, initial));
  return { db, close: () => db.close() };
}

const { version } = JSON.parse(
  readFileSync(new URL('../../node_modules/@electric-sql/pglite/package.json', import.meta.url), 'utf8'),
) as { version: string };
const EMPTY_PGLITE = `pglite-${version}.tar`;

async function dumpEmptyPglite(path: string): Promise<void> {
  const engine = await PGlite.create();
  const dump = await engine.dumpDataDir('none');
  writeFileSync(path, Buffer.from(await dump.arrayBuffer()));
  await engine.close();
}

async function openServer(): Promise<OpenedDb> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given === undefined) {
    const server = await startPostgres();
    if (server === undefined) return notThere('PostgreSQL has vanished');
    const db = createPoolDb(server.url, silent);
    return {
      db,
      async close() {
        await db.close();
        await server.stop();
      },
    };
  }
  const database = `backhaul_test_${randomBytes(6).toString('hex')}`;
  await runOnce(given, `create database ${database}`);
  const url = new URL(given);
  url.pathname = `/${database}`;
  const db = createPoolDb(url.href, silent);
  return {
    db,
    async close() {
      await db.close();
      await runOnce(given, `drop database ${database}`);
    },
  };
}

async function runOnce(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
