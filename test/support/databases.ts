import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import type { Db } from '../../src/server/database/db.ts';
import { migrate } from '../../src/server/database/migrate.ts';
import { createSerialDb } from '../../src/server/database/pglite.ts';
import { openPgliteSession } from '../../src/server/database/pglite-session.ts';
import { createPoolDb } from '../../src/server/database/pool.ts';
import { readEmptyPglite } from './empty-pglite.ts';
import { BOTH_DATABASES } from './form.ts';
import { type PostgresForTests, runStatement, toDatabaseUrl } from './one-postgres.ts';
import { silent } from './silent.ts';

export { silent };

interface OpenedDb {
  readonly db: Db;
  close(): Promise<void>;
}

/** Opens a database of one suite; it is there as soon as hooks and tests run. */
type Suite = (db: () => Db) => void;

/**
 * Runs one suite on a database of its own with the tables of this version: on PostgreSQL, and in the long
 * form (form.ts) or where there is no PostgreSQL on the embedded database.
 */
export function onEveryDatabase(name: string, suite: Suite): void {
  runOnEach(name, suite, BOTH_DATABASES);
}

/** The same on both databases in every form: for what is done differently on the two. */
export function onBothDatabases(name: string, suite: Suite): void {
  runOnEach(name, suite, true);
}

function runOnEach(name: string, suite: Suite, both: boolean): void {
  const postgres = inject('postgres');
  if (postgres === undefined)
    throw new Error(`${name}: name this file in DATABASE of config/vitest.config.ts`);
  const embedded = both || postgres === 'missing' ? describe : describe.skip;
  embedded(`${name} on PGlite`, () => runOn(openEmbedded, suite));
  if (postgres === 'missing') describe.skip(`${name} on PostgreSQL`, () => suite(() => notThere(name)));
  else describe(`${name} on PostgreSQL`, () => runOn(() => openServer(postgres), suite));
}

function notThere(message: string): never {
  throw new Error(message);
}

function runOn(open: () => Promise<OpenedDb>, suite: Suite): void {
  let opened: OpenedDb | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());
  suite(() => opened?.db ?? notThere('the database is opened in beforeAll'));
}

async function openEmbedded(): Promise<OpenedDb> {
  const initial = await readEmptyPglite();
  const db = createSerialDb(() => openPgliteSession(undefined, initial));
  await migrate(db);
  return { db, close: () => db.close() };
}

async function openServer({ url, template, copy }: PostgresForTests): Promise<OpenedDb> {
  const database = `${template}_${randomBytes(6).toString('hex')}`;
  await runStatement(url, `create database ${database} template ${template} ${copy}`);
  const db = createPoolDb(toDatabaseUrl(url, database), silent);
  return {
    db: refuseDetours(db),
    async close() {
      await db.close();
      await runStatement(url, `drop database ${database}`);
    },
  };
}

const inTransaction = new AsyncLocalStorage<true>();

/**
 * A statement past its transaction waits for ever on the embedded database, which has one connection.
 * Here it fails at once, so that a run on PostgreSQL alone finds it, too.
 */
function refuseDetours(db: Db): Db {
  const refuse = (statement: string) => {
    if (inTransaction.getStore()) throw new Error(`past the transaction that is open: ${statement}`);
  };
  return {
    ...db,
    async query(text, params, options) {
      refuse(text);
      return db.query(text, params, options);
    },
    async transaction(run, use) {
      refuse('begin');
      return db.transaction((tx) => inTransaction.run(true, () => run(tx)), use);
    },
  };
}

/** Begins another caller's work from inside a transaction. Whoever awaits it there waits for ever. */
export function asAnotherCaller<T>(work: () => T): T {
  return inTransaction.exit(work);
}
