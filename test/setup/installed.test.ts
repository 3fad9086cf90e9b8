import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, load, putFile } from './load.ts';

const { isCheckout, setUpInstalled } = await load<{
  isCheckout: (root: string) => boolean;
  setUpInstalled: (options: {
    env: Record<string, string>;
    redis?: boolean;
    log?: (text: string) => void;
  }) => Promise<string | undefined>;
}>('setup.mjs');

const putRedis = (path: string, version: string) =>
  putFile(path, `#!/bin/sh\necho 'Redis server v=${version} sha=0'\n`, 0o755);

test('a folder with the sources is a checkout, and one with only the build is an installed package', () => {
  expect(isCheckout(createFolder({ 'src/cli/main.ts': '' }))).toBe(true);
  expect(isCheckout(createFolder({ 'dist/src/cli/main.js': '', 'src/setup/setup.mjs': '' }))).toBe(false);
});

test('an installed package uses the redis-server on the PATH', async () => {
  const [bin, cache] = [createFolder(), createFolder()];
  putRedis(join(bin, 'redis-server'), '7.0.15');
  const program = await setUpInstalled({ env: { PATH: bin, XDG_CACHE_HOME: cache } });
  expect(program).toBe(join(bin, 'redis-server'));
});

test('an installed package uses the redis-server it fetched earlier, from the cache folder of its user', async () => {
  const [bin, cache] = [createFolder(), createFolder()];
  putRedis(join(bin, 'redis-server'), '6.0.16');
  const fetched = join(cache, 'backhaul/redis/redis-server');
  putRedis(fetched, '7.0.15');
  expect(await setUpInstalled({ env: { PATH: bin, XDG_CACHE_HOME: cache } })).toBe(fetched);
});

test('without a redis-server and without apt, an installed package names the command to run', async () => {
  const env = { PATH: createFolder(), XDG_CACHE_HOME: createFolder() };
  await expect(setUpInstalled({ env })).rejects.toThrow(/No redis-server was found.*To fix it: /s);
});

test('an installed package looks for no program when REDIS_URL is set or the command needs no Redis', async () => {
  const env = { PATH: createFolder(), XDG_CACHE_HOME: createFolder() };
  expect(await setUpInstalled({ env: { ...env, REDIS_URL: 'redis://cache.example.com' } })).toBeUndefined();
  expect(await setUpInstalled({ env, redis: false })).toBeUndefined();
});
