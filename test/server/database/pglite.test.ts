import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSerialDb } from '../../../src/server/database/pglite.ts';
import { openPgliteSession, type PgliteSession } from '../../../src/server/database/pglite-session.ts';
import { readEmptyPglite } from '../../support/empty-pglite.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'backhaul-pglite-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('opens the engine again when it breaks, and keeps what was committed', async () => {
  const sessions: PgliteSession[] = [];
  const db = createSerialDb(async () => {
    const session = await openPgliteSession(dir);
    sessions.push(session);
    return session;
  });
  await db.query('create table kept (a integer)');
  await db.query('insert into kept values (1)');
  await sessions[0]?.close(); // the engine goes away under the database
  await expect(db.transaction((tx) => tx.query('insert into kept values (2)'))).rejects.toThrow();
  expect(await db.query('select a from kept')).toEqual([{ a: 1 }]);
  expect(sessions).toHaveLength(2);
  await db.close();
});

test('a statement that fails breaks nothing', async () => {
  const initial = await readEmptyPglite();
  const db = createSerialDb(() => openPgliteSession(undefined, initial));
  await expect(db.query('select nonsense')).rejects.toMatchObject({ code: '42703' });
  expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  await db.close();
});

test('keeps the answers of statements apart that are asked at once, prepared or not', async () => {
  const session = await openPgliteSession(undefined, await readEmptyPglite());
  const numbers = [1, 2, 3, 4, 5, 6];
  const ask = (n: number) =>
    session.query(`select $1::integer + ${n} as sum`, [n], { prepared: n % 3 !== 0 });
  for (const _round of [1, 2]) {
    expect(await Promise.all(numbers.map(ask))).toEqual(numbers.map((n) => [{ sum: 2 * n }]));
  }
  await session.close();
});

test('keeps pages in 48 MB, and every commit in the log before it is answered', async () => {
  const initial = await readEmptyPglite();
  const db = createSerialDb(() => openPgliteSession(undefined, initial));
  const rows = await db.query<{ name: string; setting: string }>(
    `select name, current_setting(name) as setting
      from unnest(array['shared_buffers', 'synchronous_commit', 'full_page_writes']) as t (name)`,
  );
  expect(rows.map(({ setting }) => setting)).toEqual(['48MB', 'on', 'on']);
  await db.close();
});
