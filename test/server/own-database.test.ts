import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putDatabaseNote, readDatabaseNote, toDatabasePaths } from '../../src/embedded/database-note.ts';
import { moveEmbedded } from '../../src/server/database/move/move-embedded.ts';
import { explainOtherDatabase, type FoundDatabase } from '../../src/server/own-database.ts';
import { startApi } from '../../src/server/server.ts';
import { copyEmptyPglite } from '../support/empty-pglite.ts';
import { startPostgres } from '../support/postgres.ts';
import { silent } from '../support/silent.ts';

const found = (kind: FoundDatabase['kind'], more: Partial<FoundDatabase> = {}): FoundDatabase => ({
  ...{ kind, id: 'one', isUnused: false, hasEmbedded: false },
  ...more,
});
const EMBEDDED = { kind: 'embedded', id: 'one' } as const;
const SERVER = { kind: 'server', id: 'one' } as const;
const other = { id: 'two' };
const MOVE = /is in its embedded database.*database move.*rename .*remove .*database\.json/;
const CORRECT = /another database than the one that.*correct it.*remove .*database\.json/;
const SET = /in a PostgreSQL server: set DATABASE_URL.*remove .*database\.json/;
const RESTORE = /is not the embedded database that.*restore it.*remove .*database\.json/;

describe('the database of a data folder', () => {
  it.each([
    ['a new embedded one', undefined, found('embedded', { isUnused: true })],
    ['a new server', undefined, found('server', { isUnused: true })],
    ['an embedded one of an earlier version', undefined, found('embedded', { hasEmbedded: true })],
    ['a server that an earlier version moved it to', undefined, found('server', { hasEmbedded: true })],
    ['the embedded one of the last start', EMBEDDED, found('embedded', { hasEmbedded: true })],
    ['the server of the last start', SERVER, found('server', { hasEmbedded: true })],
    ['a server that has a copy of the embedded one', EMBEDDED, found('server', { hasEmbedded: true })],
  ])('may be %s', (_, known, at) => {
    expect(explainOtherDatabase(known, at, '/data')).toBeUndefined();
  });

  it.each([
    [
      'an unused server beside an embedded one',
      undefined,
      found('server', { isUnused: true, hasEmbedded: true }),
      MOVE,
    ],
    [
      'an unused server in place of the embedded one',
      EMBEDDED,
      found('server', { ...other, isUnused: true }),
      MOVE,
    ],
    ['a used server in place of the embedded one', EMBEDDED, found('server', other), MOVE],
    ['another server', SERVER, found('server', other), CORRECT],
    ['an embedded one that was moved', SERVER, found('embedded', { hasEmbedded: true }), SET],
    ['a new embedded one in place of a server', SERVER, found('embedded', other), SET],
    ['another embedded one', EMBEDDED, found('embedded', other), RESTORE],
  ])('is not %s', (_, known, at, why) => {
    expect(explainOtherDatabase(known, at, '/data')).toMatch(why);
  });
});

const postgres = await startPostgres();
const url = postgres?.url ?? 'postgres://127.0.0.1:1/none';
const bootstrap = { projectKey: `phc_${'a'.repeat(43)}`, personalKey: `phx_${'b'.repeat(43)}` };
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'backhaul-own-'));
});
afterAll(async () => {
  await postgres?.stop();
  await rm(root, { recursive: true, force: true, maxRetries: 10 });
});

/** Starts the API and ends it. */
async function start(dataDir: string, databaseUrl?: string): Promise<void> {
  const database = databaseUrl === undefined ? {} : { databaseUrl };
  const api = await startApi({ dataDir, ...database, port: 0, log: silent, bootstrap });
  await api.close();
}

async function ask<T extends object>(text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<T>(text);
  await client.end();
  return rows;
}

async function createDatabase(name: string): Promise<string> {
  await ask(`create database ${name}`);
  return url.replace('/postgres?', `/${name}?`);
}

describe.skipIf(postgres === undefined)('the bundled API', () => {
  it('starts on the database of its data folder alone, before and after a move', async () => {
    const dataDir = join(root, 'moved');
    const { folder } = toDatabasePaths(dataDir);
    await copyEmptyPglite(folder);
    await start(dataDir);
    const { id = '' } = readDatabaseNote(dataDir) ?? {};
    expect(readDatabaseNote(dataDir)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: 'embedded',
    });

    // As an earlier version left it, and as this one does.
    for (const forget of [true, false]) {
      if (forget) await rm(toDatabasePaths(dataDir).note);
      await expect(start(dataDir, url)).rejects.toThrow(MOVE);
      if (forget) putDatabaseNote(dataDir, { id, kind: 'embedded' });
    }
    expect(await ask('select 1 from projects')).toEqual([]);
    await start(dataDir);

    const move = { folder, databaseUrl: url, log: silent };
    const onArrived = (arrived: string) => putDatabaseNote(dataDir, { id: arrived, kind: 'server' });
    // Killed before the target could be used: neither can be, until the move is repeated.
    const killed = moveEmbedded({
      ...move,
      onArrived(arrived) {
        onArrived(arrived);
        throw new Error('killed');
      },
    });
    await expect(killed).rejects.toThrow('killed');
    await expect(start(dataDir)).rejects.toThrow(SET);
    await expect(start(dataDir, url)).rejects.toThrow('did not finish');
    const onBegin = () => expect.unreachable('it continues');
    await moveEmbedded({ ...move, onBegin, onArrived });

    await expect(start(dataDir)).rejects.toThrow(SET);
    await start(dataDir, url);
    expect(readDatabaseNote(dataDir)).toEqual({ id, kind: 'server' });
    const second = await createDatabase('second');
    await expect(start(dataDir, second)).rejects.toThrow(CORRECT);
    const refuse = () => {
      throw new Error('moved already');
    };
    await expect(moveEmbedded({ ...move, databaseUrl: second, onBegin: refuse })).rejects.toThrow(
      'moved already',
    );
    // Moved by an earlier version: the first start with the server says so.
    await rm(toDatabasePaths(dataDir).note);
    await start(dataDir, url);
    await expect(start(dataDir)).rejects.toThrow(SET);
  });

  it('makes no embedded database where its data is in a server, or its folder is gone', async () => {
    const dataDir = join(root, 'server');
    await start(dataDir, await createDatabase('first'));
    await expect(start(dataDir)).rejects.toThrow(SET);
    expect(existsSync(toDatabasePaths(dataDir).folder)).toBe(false);

    const gone = join(root, 'gone');
    const { folder, note } = toDatabasePaths(gone);
    await copyEmptyPglite(folder);
    await start(gone);
    await rename(folder, join(root, 'old'));
    await expect(start(gone)).rejects.toThrow(RESTORE);
    expect(existsSync(folder)).toBe(false);
    await copyEmptyPglite(folder);
    await expect(start(gone)).rejects.toThrow(RESTORE);
    await rm(folder, { recursive: true });
    await cp(join(root, 'old'), folder, { recursive: true });
    await start(gone);
    await writeFile(note, '{');
    await expect(start(gone)).rejects.toThrow(/does not say which database/);
  });
});
