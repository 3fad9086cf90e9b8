import { appendFile, chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, SourceError } from '../../../src/lib/errors.ts';
import { findSourceFiles } from '../../../src/sources/files/find-source-files.ts';
import { openSourceFile } from '../../../src/sources/files/open-source-file.ts';
import type { SourceBucket } from '../../../src/sources/files/s3-file.ts';
import type { SourceFile } from '../../../src/sources/files/source-file.ts';

const NOBODY = 65_534;

let baseDir: string;
beforeAll(async () => {
  baseDir = await mkdtemp(join(tmpdir(), 'backhaul-source-'));
  await mkdir(join(baseDir, 'exports/deep/er'), { recursive: true });
  await mkdir(join(baseDir, 'empty'));
  for (const name of [
    'exports/h_10.json',
    'exports/h_9.json',
    'exports/deep/er/x.zip',
    'exports/.DS_Store',
  ]) {
    await writeFile(join(baseDir, name), name);
  }
  await writeFile(join(baseDir, 'odd[1].json'), 'odd');
  await symlink(join(baseDir, 'exports/h_9.json'), join(baseDir, 'exports/latest.json'));
});
afterAll(() => rm(baseDir, { recursive: true, force: true }));

const find = async (...from: string[]) => (await findSourceFiles(from, { baseDir })).map(({ name }) => name);
const readFailure = async (...from: string[]) => {
  const failure = await find(...from).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  return String(failure);
};

async function readText(file: SourceFile): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('finding', () => {
  it('finds files, globs and folders with all below them, in natural order', async () => {
    const all = ['exports/deep/er/x.zip', 'exports/h_9.json', 'exports/h_10.json'];
    expect(await find('exports')).toEqual(all);
    expect(await find('exports/**/*')).toEqual(all);
    expect(await find('exports/h_*.json')).toEqual(all.slice(1));
    expect(await find(join(baseDir, 'exports', '*.json'))).toEqual(all.slice(1));
    expect(await find('./exports/../exports/h_9.json')).toEqual(['exports/h_9.json']);
    expect(await find('odd[1].json')).toEqual(['odd[1].json']);
  });

  it('says how many hidden files and folders of a folder are left out, and names one', async () => {
    const folder = join(baseDir, 'some-hidden');
    await mkdir(join(folder, 'deep/.cache'), { recursive: true });
    for (const name of ['a.json', 'deep/b.json', 'deep/.cache/.part', 'deep/.b.json.tmp'])
      await writeFile(join(folder, name), name);
    const leftOut: string[] = [];
    const look = (entry: string) =>
      findSourceFiles([entry], { baseDir, onLeftOut: (sentence) => leftOut.push(sentence) });
    expect((await look('some-hidden')).map(({ name }) => name)).toEqual([
      'some-hidden/a.json',
      'some-hidden/deep/b.json',
    ]);
    await look('exports');
    await look('some-hidden/*.json');
    expect(leftOut).toEqual([
      expect.stringContaining('"some-hidden" holds 2 hidden files and folders (deep/.b.json.tmp, …)'),
      expect.stringContaining('"exports" holds a hidden file or folder (.DS_Store), which is left out'),
    ]);
  });

  it('lists a file once where entries and links overlap', async () => {
    expect(await find('exports/latest.json', 'exports/*.json', 'exports/h_9.json')).toEqual([
      'exports/h_9.json',
      'exports/h_10.json',
    ]);
  });

  it('names a file by no way that a link leads back to a folder of it', async () => {
    await mkdir(join(baseDir, 'looped/sub'), { recursive: true });
    for (const name of ['x.log', 'sub/y.log']) await writeFile(join(baseDir, 'looped', name), name);
    await symlink('.', join(baseDir, 'looped/again'));
    await symlink('..', join(baseDir, 'looped/sub/back'));
    const both = ['looped/sub/y.log', 'looped/x.log'];
    expect(await find('looped')).toEqual(both);
    expect(await find('looped/**/*.log')).toEqual(both);
    expect(await find('looped/again/*.log', 'looped')).toEqual(both);
    expect(await find('looped/again/*.log')).toEqual(['looped/again/x.log']);
  });

  it('names a link that leads nowhere, in a folder, by a glob and by its name; one to a folder is none', async () => {
    await mkdir(join(baseDir, 'linked/in'), { recursive: true });
    await symlink(join(baseDir, 'exports'), join(baseDir, 'linked/folder'));
    await writeFile(join(baseDir, 'linked/in/there.json'), 'there');
    const all = ['linked/folder/deep/er/x.zip', 'linked/folder/h_9.json', 'linked/folder/h_10.json'];
    expect(await find('linked')).toEqual([...all, 'linked/in/there.json']);

    await symlink(join(baseDir, 'gone.json'), join(baseDir, 'linked/in/lost.json'));
    for (const entry of ['linked', 'linked/**/*.json', 'linked/in/lost.json']) {
      expect(await readFailure(entry)).toMatch(
        /leads to .*linked\/in\/lost\.json, which cannot be looked at .*if it is a link, correct or remove it/,
      );
    }
    expect(await find('linked/in/t*.json')).toEqual(['linked/in/there.json']);
  });

  it('names a folder that cannot be listed, and never leaves out what is in it', async () => {
    await mkdir(join(baseDir, 'odd-names'));
    await writeFile(join(baseDir, 'odd-names/a.json'), 'a');
    // As an archive that was packed on Windows leaves it.
    const folder = Buffer.concat([Buffer.from(join(baseDir, 'odd-names/caf')), Buffer.from([0xe9])]);
    await mkdir(folder);
    for (const entry of ['odd-names', 'odd-names/**/*.json']) {
      expect(await readFailure(entry)).toMatch(
        /holds the folder .*odd-names\/caf.*, which cannot be listed .*if its name is not UTF-8, rename it/,
      );
    }
    expect(await find('odd-names/*.json')).toEqual(['odd-names/a.json']);
    await rm(folder, { recursive: true });
  });

  it('names a folder that it may not list, but for that of a file system', async () => {
    await chmod(baseDir, 0o755);
    await mkdir(join(baseDir, 'volume/lost+found'), { recursive: true });
    await chmod(join(baseDir, 'volume/lost+found'), 0);
    await writeFile(join(baseDir, 'volume/a.json'), 'a');
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(NOBODY); // nothing keeps root out
    try {
      expect(await find('volume')).toEqual(['volume/a.json']);
      if (isRoot) process.seteuid?.(0);
      await mkdir(join(baseDir, 'volume/locked'), { mode: 0 });
      if (isRoot) process.seteuid?.(NOBODY);
      for (const entry of ['volume', 'volume/*/*.json', 'volume/**/*.json'])
        expect(await readFailure(entry), entry).toMatch(/volume\/locked, which cannot be listed .*EACCES/);
      // It lies beside the files that these name, and nothing in it could match.
      for (const entry of ['volume/*', 'volume/../volume/*', join(baseDir, 'volume/*'), 'volume/*.{json,gz}'])
        expect(await find(entry), entry).toEqual(['volume/a.json']);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  it('takes an object on S3 whose key ends in a slash for a folder only where it is empty', async () => {
    const objects = [
      { key: 'raw/', bytes: 0, etag: 'a', modified: '' },
      { key: 'raw/2023/', bytes: 7, etag: 'b', modified: '' },
    ];
    const openS3 = async () =>
      ({
        list: async function* () {
          yield* objects;
        },
      }) as unknown as SourceBucket;
    const found = await findSourceFiles(['s3://exports/raw/'], { baseDir, openS3 });
    expect(found.map(({ name }) => name)).toEqual(['s3://exports/raw/2023/']);
  });

  it('gives the same ids wherever the base folder is', async () => {
    const [file] = await findSourceFiles(['exports/h_9.json'], { baseDir });
    const other = await mkdtemp(join(tmpdir(), 'backhaul-source-'));
    await mkdir(join(other, 'exports'));
    await writeFile(join(other, 'exports/h_9.json'), 'x');
    const [moved] = await findSourceFiles(['exports'], { baseDir: other });
    expect(moved?.fileId).toBe(file?.fileId);
    expect(file?.fileId).toMatch(/^[0-9a-f]{12}$/);
    await rm(other, { recursive: true });
  });

  it('fails an entry that finds nothing, naming it, the base folder and what is there', async () => {
    expect(await readFailure('exports', 'exports/*.csv')).toMatch(/"exports\/\*\.csv" matches no file/);
    const gone = await readFailure('exports/gone.json');
    expect(gone).toContain(baseDir);
    expect(gone).toContain('holds deep/, h_9.json, h_10.json');
    expect(await readFailure('no/such/folder/*.gz')).toContain('empty/, exports/');
    expect(await readFailure('empty')).toMatch(/"empty".*holds no files/);
  });

  it('finds nothing in folders that may be empty, and still fails where there is no folder', async () => {
    const findWhatCame = async (...from: string[]) =>
      (await findSourceFiles(from, { baseDir, allowEmpty: true })).map(({ name }) => name);
    expect(await findWhatCame('empty', 'empty/*.json', '*.gz', 'exports/h_9.json', 'exports/*.csv')).toEqual([
      'exports/h_9.json',
    ]);
    for (const missing of ['no/such/folder', 'no/such/folder/*.gz', 'exports/gone.json'])
      await expect(findWhatCame(missing)).rejects.toThrow(/matches no file/);
  });

  it('explains entries on S3 that cannot work', async () => {
    expect(await readFailure('s3://')).toMatch(/names no bucket/);
    expect(await readFailure('s3://bucket/a/*.gz')).toMatch(/an entry is a prefix/);
    expect(await readFailure('s3://bucket/a')).toMatch(/no access to S3/);
  });
});

describe('a file on this machine', () => {
  async function open(name: string): Promise<SourceFile> {
    const [slice] = await findSourceFiles([name], { baseDir });
    if (slice?.location !== 'producer') throw new Error('not found here');
    return openSourceFile(slice, { baseDir });
  }

  it('is read whole, in ranges and at places', async () => {
    const file = await open('exports/h_9.json');
    expect(await readText(file)).toBe('exports/h_9.json');
    expect(file.bytes).toBe(16);
    const range: Buffer[] = [];
    for await (const chunk of file.open({ start: 2, end: 5 })) range.push(chunk);
    expect(String(Buffer.concat(range))).toBe('por');
    expect(String(await file.readAt(8, 3))).toBe('h_9');
    await expect(file.readAt(10, 30)).rejects.toThrow(SourceError);
  });

  it('hands out nothing of what replaces it while it is read', async () => {
    const path = join(baseDir, 'rewritten.json');
    await writeFile(path, 'a'.repeat(4 * 1024 * 1024));
    const file = await open('rewritten.json');
    const seen = new Set<number>();
    const read = async () => {
      for await (const chunk of file.open()) {
        if (seen.size === 0) {
          await writeFile(path, 'b'.repeat(file.bytes));
          await utimes(path, 0, 0);
        }
        for (const byte of chunk) seen.add(byte);
      }
    };
    await expect(read()).rejects.toThrow(/rewritten\.json changed since it was listed/);
    expect([...seen]).toEqual(['a'.charCodeAt(0)]);
    await rm(path);
  });

  it('fails once it has changed or gone since it was found, naming it', async () => {
    const path = join(baseDir, 'changing.json');
    await writeFile(path, 'first');
    const file = await open('changing.json');
    await appendFile(path, ' and more');
    await expect(readText(file)).rejects.toThrow(/changing\.json changed since it was listed/);
    await rm(path);
    await expect(readText(file)).rejects.toThrow(SourceError);
    await expect(readText(file)).rejects.toThrow(/changing\.json is gone.*put it back/);
    await expect(file.readAt(0, 1)).rejects.toThrow(SourceError);
  });
});
