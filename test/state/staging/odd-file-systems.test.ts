import fs from 'node:fs';
import fsPromises, { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPrivateFile, createPrivateFolder } from '../../../src/embedded/private-file.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const failAs = (code: string) => Object.assign(new Error(`${code}: failed`), { code });
const real = {
  linkSync: fs.linkSync,
  mkdirSync: fs.mkdirSync,
  link: fsPromises.link,
  mkdir: fsPromises.mkdir,
  open: fsPromises.open,
  unlink: fsPromises.unlink,
};

/** Whoever has imported them by name has these from now on: files of tests share their modules. */
function replace(functions: Partial<typeof real>): void {
  const { linkSync, mkdirSync, ...others } = { ...real, ...functions };
  Object.assign(fs, { linkSync, mkdirSync });
  Object.assign(fsPromises, others);
  syncBuiltinESMExports();
}

function failLinks(code: string): void {
  replace({
    linkSync() {
      throw failAs(code);
    },
    link: () => Promise.reject(failAs(code)),
  });
}

const failSyncsOfFolders = (code: string): void =>
  replace({
    async open(...args) {
      const handle = await real.open(...args);
      if ((await handle.stat()).isDirectory()) handle.sync = () => Promise.reject(failAs(code));
      return handle;
    },
  });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-odd-'));
});
afterEach(async () => {
  replace({});
  await rm(folder, { recursive: true });
});

it.each(['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'])(
  'without hard links (%s) is named as such',
  async (code) => {
    failLinks(code);
    expect(() => createPrivateFile(join(folder, 'owner.1.lock'), 'x')).toThrow(
      `its file system has no hard links, as FAT, exFAT and some network shares have none (${code})`,
    );
    const creating = createFolderStaging(folder).create('a/b', Buffer.from('x'));
    await expect(creating).rejects.toThrow(ConfigError);
    await expect(creating).rejects.toThrow('has no hard links');
  },
);

it('never lacks a body while that is replaced', async () => {
  const staging = createFolderStaging(folder);
  await staging.put('a/b', Buffer.from('old'));
  const removed: string[] = [];
  replace({
    unlink(path) {
      removed.push(String(path));
      return real.unlink(path);
    },
  });
  await staging.put('a/b', Buffer.from('new'));
  expect(removed).toEqual([]);
  expect(String(await staging.get('a/b'))).toBe('new');
});

it('that cannot write a folder to its disk is used all the same, and one whose disk fails is not', async () => {
  failSyncsOfFolders('EINVAL');
  const staging = createFolderStaging(folder);
  expect(await staging.create('a/b', Buffer.from('x'))).toBe(true);
  await staging.put('a/c', Buffer.from('y'));
  expect(String(await staging.get('a/c'))).toBe('y');
  failSyncsOfFolders('EIO');
  await expect(staging.put('a/d', Buffer.from('z'))).rejects.toThrow('does not respond');
});

it.each([
  ['ENOSPC', 'is full', 'the disk is full'],
  ['EROFS', 'is not accessible', 'its file system is read-only'],
])('folders that cannot be made (%s) are named as such', async (code, ofStaging, ofDataFolder) => {
  /** As Node.js: the reason is known of one folder, and of a whole path it is ENOENT. */
  const fail = (options?: unknown) =>
    failAs(typeof options === 'object' && options && 'recursive' in options ? 'ENOENT' : code);
  replace({
    mkdirSync: ((_path: unknown, options?: unknown) => {
      throw fail(options);
    }) as typeof fs.mkdirSync,
    mkdir: ((_path: unknown, options?: unknown) => Promise.reject(fail(options))) as typeof fsPromises.mkdir,
  });
  const writing = createFolderStaging(join(folder, 'data/staging')).put('a/b', Buffer.from('x'));
  await expect(writing).rejects.toThrow(ConfigError);
  await expect(writing).rejects.toThrow(ofStaging);
  expect(() => createPrivateFolder(join(folder, 'data'))).toThrow(`data cannot be written: ${ofDataFolder}`);
});

it.each([
  ['EROFS', true],
  ['ENOSPC', false],
])(
  'a folder into which nothing can be written (%s) is one that others may write to: %s',
  async (code, is) => {
    const staging = createFolderStaging(folder);
    await staging.put('a', Buffer.from('x'));
    replace({ open: () => Promise.reject(failAs(code)) });
    const asked = await staging.assertWritable?.().catch((error: unknown) => error);
    expect(asked instanceof ConfigError).toBe(is);
  },
);
