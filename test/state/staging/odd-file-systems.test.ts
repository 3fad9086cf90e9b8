import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPrivateFile } from '../../../src/embedded/private-file.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

/** What link and the sync of a folder end with; undefined: nothing. */
const fails = vi.hoisted(() => ({ link: '', sync: '' }));
const failAs = vi.hoisted(() => (code: string) => Object.assign(new Error(`${code}: failed`), { code }));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  return {
    ...real,
    linkSync(...args: Parameters<typeof real.linkSync>) {
      if (fails.link !== '') throw failAs(fails.link);
      real.linkSync(...args);
    },
  };
});
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return {
    ...real,
    async link(...args: Parameters<typeof real.link>) {
      if (fails.link !== '') throw failAs(fails.link);
      await real.link(...args);
    },
    async open(...args: Parameters<typeof real.open>) {
      const handle = await real.open(...args);
      if (fails.sync !== '' && (await handle.stat()).isDirectory())
        handle.sync = () => Promise.reject(failAs(fails.sync));
      return handle;
    },
  };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-odd-'));
});
afterEach(async () => {
  Object.assign(fails, { link: '', sync: '' });
  await rm(folder, { recursive: true });
});

it.each(['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'])(
  'without hard links (%s) is named as such',
  async (code) => {
    fails.link = code;
    expect(() => createPrivateFile(join(folder, 'owner.1.lock'), 'x')).toThrow(
      `its file system has no hard links, as FAT, exFAT and some network shares have none (${code})`,
    );
    const creating = createFolderStaging(folder).create('a/b', Buffer.from('x'));
    await expect(creating).rejects.toThrow(ConfigError);
    await expect(creating).rejects.toThrow('has no hard links');
  },
);

it('that cannot write a folder to its disk is used all the same, and one whose disk fails is not', async () => {
  fails.sync = 'EINVAL';
  const staging = createFolderStaging(folder);
  expect(await staging.create('a/b', Buffer.from('x'))).toBe(true);
  await staging.put('a/c', Buffer.from('y'));
  expect(String(await staging.get('a/c'))).toBe('y');
  fails.sync = 'EIO';
  await expect(staging.put('a/d', Buffer.from('z'))).rejects.toThrow('does not respond');
});
