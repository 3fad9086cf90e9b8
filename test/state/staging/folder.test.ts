import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { toFolderError } from '../../../src/state/staging/folder-errors.ts';
import { stagingContract } from './staging-contract.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'backhaul-staging-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

stagingContract('a folder', async () => createFolderStaging(await mkdtemp(join(root, 'contract-'))));

describe('a folder', () => {
  it('is empty before anything is written, and is not made by looking', async () => {
    const staging = createFolderStaging(join(root, 'not-yet'));
    for await (const { key } of staging.list('')) throw new Error(`found ${key}`);
    expect(await staging.get('a')).toBeUndefined();
    expect(await readdir(root)).not.toContain('not-yet');
  });

  it('leaves no temporary files, lists none, and sweeps old ones of killed processes', async () => {
    const folder = join(root, 'swept');
    await mkdir(join(folder, '.tmp'), { recursive: true });
    const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await writeFile(join(folder, '.tmp', 'old'), 'x');
    await utimes(join(folder, '.tmp', 'old'), yesterday, yesterday);
    await writeFile(join(folder, '.tmp', 'young'), 'x');
    const staging = createFolderStaging(folder);
    await staging.put('a', Buffer.from('1'));
    await staging.create('a', Buffer.from('2'));
    expect(await readdir(join(folder, '.tmp'))).toEqual(['young']);
    const keys: string[] = [];
    for await (const { key } of staging.list('')) keys.push(key);
    expect(keys).toEqual(['a']);
  });

  it('says what to do when it may not write', async () => {
    const file = join(root, 'a-file');
    await writeFile(file, 'x');
    const error = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    expect(toFolderError(error, `folder ${file}`, 'write a')).toMatchObject({ code: 'config' });
    expect(String(toFolderError(error, `folder ${file}`, 'write a'))).toMatch(/right to read and write/);
    const large = Object.assign(new Error('EFBIG: file too large'), { code: 'EFBIG' });
    expect(String(toFolderError(large, `folder ${file}`, 'write a'))).toMatch(/write a.*ulimit -f/);
    await expect(createFolderStaging(file).create('a/b', Buffer.from('x'))).rejects.toThrow(
      /has a file where a folder belongs/,
    );
  });

  it('says what to do when the disk is full, keeps what was there, and continues once there is room', async ({
    skip,
  }) => {
    const disk = await mkdtemp(join(root, 'disk-'));
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]);
    skip(mount.status !== 0, 'needs the right to mount a small file system');
    try {
      const staging = createFolderStaging(disk);
      await staging.put('a', Buffer.from('old'));
      const failure = await staging
        .put('a', Buffer.alloc(4 * 1024 * 1024, 1))
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConfigError);
      expect(String(failure)).toMatch(/is full.*free some space, or move the folder.*; nothing is lost$/);
      expect(String(await staging.get('a'))).toBe('old');
      await staging.put('a', Buffer.alloc(1024 * 1024, 1));
    } finally {
      spawnSync('umount', [disk]);
    }
  });
});
