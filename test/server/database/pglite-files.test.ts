import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPgliteFiles } from '../../../src/server/database/pglite-files.ts';

let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-pglite-files-'));
  dataDir = join(folder, 'data', 'db');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = async (draft: string, text: string) => {
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, 'PG_VERSION'), text);
};

test('makes files where there are none, once', async () => {
  await createPgliteFiles(dataDir, (draft) => write(draft, 'first'));
  await createPgliteFiles(dataDir, (draft) => write(draft, 'second'));
  expect(await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).toBe('first');
  expect(await readdir(join(folder, 'data'))).toEqual(['db']);
});

test('takes no file of a process that an earlier start left behind', async () => {
  let left = '';
  // As a start that is killed: nobody waits for it, and what it began to write continues.
  void createPgliteFiles(dataDir, (draft) => {
    left = draft;
    return new Promise(() => {});
  });
  while (left === '') await new Promise((resolve) => setImmediate(resolve));
  await write(left, 'left');
  await createPgliteFiles(dataDir, async (draft) => {
    expect(existsSync(left)).toBe(false);
    await write(draft, 'whole');
    await write(left, 'left');
  });
  expect(await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).toBe('whole');
  await createPgliteFiles(dataDir, () => Promise.reject(new Error('there is one')));
  expect(await readdir(join(folder, 'data'))).toEqual(['db']);
});

test('names the folder where it fails, and is tried again', async () => {
  const full = createPgliteFiles(dataDir, () => Promise.reject(new Error('no space')));
  await expect(full).rejects.toThrow(`The embedded database in ${dataDir} could not be made: no space`);
  await createPgliteFiles(dataDir, (draft) => write(draft, 'whole'));
  expect(await readdir(join(folder, 'data'))).toEqual(['db']);
});
