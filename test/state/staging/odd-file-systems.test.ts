import fs from 'node:fs';
import fsPromises, { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPrivateFile } from '../../../src/embedded/private-file.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const failAs = (code: string) => Object.assign(new Error(`${code}: failed`), { code });
const real = { linkSync: fs.linkSync, link: fsPromises.link, open: fsPromises.open };

/** Whoever has imported them by name has these from now on: files of tests share their modules. */
function replace(functions: Partial<typeof real>): void {
  const { linkSync, ...others } = { ...real, ...functions };
  fs.linkSync = linkSync;
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

it('that cannot write a folder to its disk is used all the same, and one whose disk fails is not', async () => {
  failSyncsOfFolders('EINVAL');
  const staging = createFolderStaging(folder);
  expect(await staging.create('a/b', Buffer.from('x'))).toBe(true);
  await staging.put('a/c', Buffer.from('y'));
  expect(String(await staging.get('a/c'))).toBe('y');
  failSyncsOfFolders('EIO');
  await expect(staging.put('a/d', Buffer.from('z'))).rejects.toThrow('does not respond');
});
