import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createFolder, load, putFile } from './load.ts';

const run = promisify(execFile);
const { ensureRedis, isRedisReady, suggestInstall } = await load<{
  ensureRedis: (cache: string, env: Record<string, string>, log: (text: string) => void) => Promise<void>;
  isRedisReady: (cache: string, env: Record<string, string>) => boolean;
  suggestInstall: (platform: string, has: (name: string) => boolean) => string;
}>('redis-server.mjs');
const { unpackRedis, parseInstalls } = await load<{
  unpackRedis: (options: { folder: string; asRoot: boolean; aptOptions?: string[] }) => Promise<void>;
  parseInstalls: (simulation: string) => string[];
}>('unpack-redis.mjs');

const quiet = () => {};
const createProgram = (output: string) => `#!/bin/sh\necho '${output}'\n`;

function hasApt(): boolean {
  try {
    execFileSync('apt-get', ['--version'], { stdio: 'ignore' });
    execFileSync('dpkg-deb', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A Debian archive on disk: the real apt-get and dpkg-deb read it without a network. */
async function createArchive(packages: { name: string; depends?: string; files: Record<string, string> }[]) {
  const archive = createFolder();
  const index: string[] = [];
  for (const { name, depends, files } of packages) {
    const control = [
      `Package: ${name}`,
      'Version: 1:7.0.0',
      'Architecture: all',
      'Maintainer: A Test <test@example.com>',
      ...(depends === undefined ? [] : [`Depends: ${depends}`]),
      'Description: a package of a test',
    ].join('\n');
    const tree = join(archive, 'tree', name);
    putFile(join(tree, 'DEBIAN/control'), `${control}\n`);
    for (const [path, text] of Object.entries(files)) putFile(join(tree, path), text, 0o755);
    const file = join(archive, `${name}.deb`);
    await run('dpkg-deb', ['--build', '--root-owner-group', tree, file]);
    const bytes = readFileSync(file);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    index.push(`${control}\nFilename: ./${name}.deb\nSize: ${bytes.length}\nSHA256: ${sha256}\n`);
  }
  writeFileSync(join(archive, 'Packages'), index.join('\n'));
  writeFileSync(join(archive, 'sources.list'), `deb [trusted=yes] file:${archive} ./\n`);
  return [
    `Dir::Etc::sourcelist=${join(archive, 'sources.list')}`,
    'Dir::Etc::sourceparts=-',
    'Dir::State::status=/dev/null',
  ];
}

const asRoot = process.getuid?.() === 0;

test.skipIf(!hasApt())(
  'a redis-server and its missing libraries are unpacked without being installed',
  async () => {
    const aptOptions = await createArchive([
      { name: 'redis-server', depends: 'redis-tools', files: { 'etc/redis.conf': '' } },
      {
        name: 'redis-tools',
        depends: 'libsmall',
        // Prints where it would look for its libraries.
        files: { 'usr/bin/redis-server': '#!/bin/sh\necho "$1 $LD_LIBRARY_PATH"\n' },
      },
      { name: 'libsmall', files: { 'usr/lib/x86_64-linux-gnu/libsmall.so.1': '' } },
      { name: 'unrelated', files: { 'usr/bin/unrelated': '' } },
    ]);
    const folder = join(createFolder(), 'cache', 'redis');
    mkdirSync(join(folder, '..'));
    await unpackRedis({ folder, asRoot, aptOptions });
    const { stdout } = await run(join(folder, 'redis-server'), ['--version']);
    expect(stdout).toContain('--version');
    expect(stdout).toContain(join(folder, 'usr/lib/x86_64-linux-gnu'));
    expect(existsSync(join(folder, 'usr/lib/x86_64-linux-gnu/libsmall.so.1'))).toBe(true);
    expect(existsSync(join(folder, 'usr/bin/unrelated'))).toBe(false);
  },
);

test.skipIf(!hasApt())(
  'an archive without redis-server leaves nothing behind, and the error has the command',
  async () => {
    const aptOptions = await createArchive([{ name: 'unrelated', files: { 'usr/bin/unrelated': '' } }]);
    const folder = join(createFolder(), 'redis');
    await expect(unpackRedis({ folder, asRoot, aptOptions })).rejects.toThrow(
      /could not be fetched.*redis-server.*sudo apt-get/s,
    );
    expect(existsSync(folder)).toBe(false);
  },
);

test('the version of a redis-server on the PATH is checked once, until the file changes', async () => {
  const cache = createFolder();
  const bin = createFolder();
  putFile(join(bin, 'redis-server'), createProgram('Redis server v=7.0.15 sha=0'), 0o755);
  const env = { PATH: bin };
  expect(isRedisReady(cache, env)).toBe(false);
  await ensureRedis(cache, env, quiet);
  expect(isRedisReady(cache, env)).toBe(true);
  putFile(join(bin, 'redis-server'), createProgram('Redis server v=6.0.16 sha=0 (downgraded)'), 0o755);
  expect(isRedisReady(cache, env)).toBe(false);
});

test('an old redis-server is skipped for a Valkey beside it', async () => {
  const cache = createFolder();
  const bin = createFolder();
  putFile(join(bin, 'redis-server'), createProgram('Redis server v=6.0.16 sha=0'), 0o755);
  await expect(ensureRedis(cache, { PATH: bin }, quiet)).rejects.toThrow(/Only an older Redis.*6\.0/s);
  putFile(join(bin, 'valkey-server'), createProgram('Valkey server v=8.0.1 sha=0'), 0o755);
  await ensureRedis(cache, { PATH: bin }, quiet);
  expect(isRedisReady(cache, { PATH: bin })).toBe(true);
});

test('a running server needs no program, and a wrong BACKHAUL_REDIS_SERVER is an error', async () => {
  const cache = createFolder();
  expect(isRedisReady(cache, { REDIS_URL: 'redis://cache.example.com' })).toBe(true);
  const env = { BACKHAUL_REDIS_SERVER: join(cache, 'nothing') };
  await expect(ensureRedis(cache, env, quiet)).rejects.toThrow(/BACKHAUL_REDIS_SERVER names .*unset/s);
  expect(readdirSync(cache)).toEqual([]);
});

test('each system without apt has its own install command', () => {
  expect(suggestInstall('darwin', () => false)).toBe('brew install redis');
  expect(suggestInstall('linux', (name) => name === 'dnf')).toBe('sudo dnf install -y valkey');
  expect(suggestInstall('linux', (name) => name === 'apk')).toBe('sudo apk add redis');
  expect(suggestInstall('freebsd', () => false)).toMatch(/REDIS_URL/);
});

test('the packages that apt would install are parsed from its simulation', () => {
  const simulation = [
    'NOTE: This is only a simulation!',
    'Inst libjemalloc2 (5.3.0-1 Debian:12/stable [amd64])',
    'Inst redis-server (5:7.0.15-1 Debian:12/stable [amd64]) []',
    'Conf libjemalloc2 (5.3.0-1 Debian:12/stable [amd64])',
  ].join('\n');
  expect(parseInstalls(simulation)).toEqual(['libjemalloc2', 'redis-server']);
});
