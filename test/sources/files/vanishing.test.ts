import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findSourceFiles } from '../../../src/sources/files/find-source-files.ts';

/** What others do to the folders of a source while they are listed. */
const meanwhile = vi.hoisted(() => ({
  beforeListing: (_folder: string) => {},
  afterListing: (_folder: string) => {},
}));
vi.mock('node:fs', async (load) => {
  const fs = await load<typeof import('node:fs')>();
  const readdir = (path: string, options: object, then: (...results: unknown[]) => void) => {
    meanwhile.beforeListing(path);
    return fs.readdir(path, options, (...results: unknown[]) => {
      meanwhile.afterListing(path);
      then(...results);
    });
  };
  return { ...fs, readdir };
});

let baseDir: string;
let listed: string[];
const at = (...names: string[]) => join(baseDir, 'in', ...names);
const find = async (entry = 'in') => (await findSourceFiles([entry], { baseDir })).map(({ name }) => name);
const is = (folder: string, name: string) => folder.replace(/\/$/, '') === at(name);

beforeEach(() => {
  baseDir = mkdtempSync(join(tmpdir(), 'backhaul-vanishing-'));
  for (const name of ['kept', 'work']) {
    mkdirSync(at(name), { recursive: true });
    writeFileSync(at(name, 'a.json'), name);
  }
  listed = [];
});
afterEach(() => {
  Object.assign(meanwhile, { beforeListing: () => {}, afterListing: () => {} });
  rmSync(baseDir, { recursive: true });
});

it.each(['in', 'in/**/*.json', 'in/*/*.json'])(
  'a folder that vanishes while %s is listed is not there',
  async (entry) => {
    meanwhile.beforeListing = (folder) => {
      if (is(folder, 'work')) rmSync(at('work'), { recursive: true, force: true });
    };
    expect(await find(entry)).toEqual(['in/kept/a.json']);
  },
);

it('a folder that is moved meanwhile is found where it is', async () => {
  meanwhile.beforeListing = (folder) => {
    if (!is(folder, 'work')) return;
    renameSync(at('work'), at('done'));
    meanwhile.beforeListing = () => {};
  };
  expect(await find()).toEqual(['in/done/a.json', 'in/kept/a.json']);
});

it('a file that vanishes once it is listed is not there', async () => {
  meanwhile.afterListing = (folder) => {
    if (is(folder, 'work')) rmSync(at('work'), { recursive: true, force: true });
  };
  expect(await find()).toEqual(['in/kept/a.json']);
});

it('a folder that is named each time and never there is an error, soon', async () => {
  meanwhile.beforeListing = (folder) => {
    if (is(folder, '')) mkdirSync(at('work'), { recursive: true });
    if (!is(folder, 'work')) return;
    listed.push(folder);
    rmSync(at('work'), { recursive: true, force: true });
  };
  await expect(find()).rejects.toThrow(/in\/work, which cannot be listed .*ENOENT/);
  expect(listed).toHaveLength(5);
});
