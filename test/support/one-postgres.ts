import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/server/database/migrate.ts';
import { createPoolDb } from '../../src/server/database/pool.ts';
import { prepareEmptyPglite } from './empty-pglite.ts';
import { startPostgres } from './postgres.ts';
import { silent } from './silent.ts';

/** A PostgreSQL server for the whole run, with a database to copy: it has the tables of this version. */
export interface PostgresForTests {
  readonly url: string;
  readonly template: string;
  /** How to copy: the words that CREATE DATABASE takes after the template. */
  readonly copy: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined in projects that have not asked for it. */
    postgres: PostgresForTests | 'missing' | undefined;
  }
}

/**
 * Once a run: uses the server of TEST_DATABASE_URL, or starts one. Every suite copies the template
 * (support/databases.ts), which takes a tenth of a second, and drops its copy.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await prepareEmptyPglite();
  const given = process.env['TEST_DATABASE_URL'];
  const server = given === undefined ? await startPostgres() : undefined;
  const url = given ?? server?.url;
  if (url === undefined) {
    project.provide('postgres', 'missing');
    reportMissing();
    return async () => undefined;
  }
  const template = `backhaul_test_${randomBytes(6).toString('hex')}`;
  await runStatement(url, `create database ${template}`);
  const db = createPoolDb(toDatabaseUrl(url, template), silent);
  await migrate(db);
  const [setting] = await db.query<{ server_version_num: string }>('show server_version_num');
  await db.close();
  // From version 15 on the default writes every page to the log; a copy of the files is quicker.
  const copy = Number(setting?.server_version_num) >= 150_000 ? 'strategy file_copy' : '';
  project.provide('postgres', { url, template, copy });
  return async () => {
    if (server === undefined) await runStatement(url, `drop database ${template}`);
    else await server.stop();
  };
}

function reportMissing(): void {
  const message =
    'There is no PostgreSQL here: the tests of the API run on the embedded database alone. ' +
    'Set TEST_DATABASE_URL or run: apt-get install -y postgresql';
  if (process.env['CI'] === 'true') throw new Error(message);
  console.warn(message);
}

/** The same server and user, another database. */
export function toDatabaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

export async function runStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
