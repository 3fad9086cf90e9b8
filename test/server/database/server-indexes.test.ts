import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { UnavailableError } from '../../../src/lib/errors.ts';
import type { Db } from '../../../src/server/database/db.ts';
import {
  buildServerIndexes,
  startIndexBuilding,
} from '../../../src/server/database/migrations/server-indexes.ts';
import { createPoolDb } from '../../../src/server/database/pool.ts';
import { type PostgresForTests, runStatement, toDatabaseUrl } from '../../support/one-postgres.ts';
import { silent } from '../../support/silent.ts';
import { until } from '../../support/until.ts';

const postgres = inject('postgres');

describe.skipIf(typeof postgres !== 'object')('indexes on a server', () => {
  const { url, template, copy } = postgres as PostgresForTests;
  const database = `${template}_${randomBytes(6).toString('hex')}`;
  let db: Db;
  beforeAll(async () => {
    await runStatement(url, `create database ${database} template ${template} ${copy}`);
    db = createPoolDb(toDatabaseUrl(url, database), silent);
  });
  afterAll(async () => {
    await db.close();
    await runStatement(url, `drop database ${database}`);
  });

  const list = async () =>
    (
      await db.query<{ name: string }>(
        `select indexrelid::regclass::text as name from pg_index
          where indrelid = 'events'::regclass and indisvalid order by 1`,
      )
    ).map(({ name }) => name);

  test('are built while others read and write, once, and again where a build was interrupted', async () => {
    expect(await list()).toEqual(expect.arrayContaining(['events_by_name', 'events_of_distinct_id']));
    // Somebody writes meanwhile: the build waits for them, and nobody for the build.
    const writer =
      await holdTransaction(`insert into events (project_id, uuid, event, distinct_id, timestamp, properties)
      values (1, gen_random_uuid(), 'a', 'ann', now(), '{}')`);
    const building = buildServerIndexes(db);
    await until('the build', async () => (await countBuilds()) === 1 || undefined);
    expect(await buildServerIndexes(db)).toBe(false);
    expect(await db.query('select event from events')).toEqual([]);
    await db.query(`insert into events (project_id, uuid, event, distinct_id, timestamp, properties)
      values (1, gen_random_uuid(), 'b', 'bob', now(), '{}')`);
    await writer.end();
    expect(await building).toBe(true);
    const built = await list();
    expect(built).toEqual(['events_by_time', 'events_by_uuid', 'events_of_id', 'events_of_name']);

    // As an interrupted build leaves it.
    await db.query(`update pg_index set indisvalid = false where indexrelid = 'events_of_name'::regclass`);
    expect(await list()).not.toContain('events_of_name');
    expect(await buildServerIndexes(db)).toBe(true);
    expect(await list()).toEqual(built);
    expect(await buildServerIndexes(db)).toBe(true);
  });

  test('do not keep a process from ending', async () => {
    await db.query('drop index events_of_name');
    const writer = await holdTransaction(`delete from events where event = 'a'`);
    const building = startIndexBuilding(db, silent);
    await until('the build', async () => (await countBuilds()) === 1 || undefined);
    await building.close();
    expect(await countBuilds()).toBe(0);
    await writer.end();
    expect(await buildServerIndexes(db)).toBe(true);
    expect(await list()).toContain('events_of_name');
  });

  async function countBuilds(): Promise<number> {
    const [row] = await db.query<{ builds: number }>(
      `select count(*)::integer as builds from pg_stat_activity
        where datname = current_database() and state = 'active' and wait_event_type = 'Lock'
          and query like 'create index concurrently%'`,
    );
    return row?.builds ?? 0;
  }

  /** A transaction that has run a statement and stays open. */
  async function holdTransaction(statement: string): Promise<{ end(): Promise<void> }> {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun: () => void = () => undefined;
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const done = db.transaction(async (tx) => {
      await tx.query(statement);
      begun();
      await ended;
    });
    await beginning;
    return {
      async end() {
        end();
        await done;
      },
    };
  }
});

test('indexes are tried again where the server is away, and not where they cannot be built', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const errors = [new UnavailableError('away'), new Error('must be owner of table events')];
  let attempts = 0;
  const server: Db = {
    kind: 'postgres',
    query: async () => [],
    transaction: () => Promise.reject(errors[attempts++] ?? new Error('once too often')),
    watch: () => undefined,
    close: async () => undefined,
  };
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const building = startIndexBuilding(server, log);
  for (let tenSeconds = 0; tenSeconds < 5; tenSeconds++) await vi.advanceTimersByTimeAsync(10_000);
  expect(attempts).toBe(2);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('must be owner of table events');
  await building.close();
});
