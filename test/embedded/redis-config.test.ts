import { expect, test } from 'vitest';
import { isOlder, parseRedisVersion } from '../../src/embedded/find-redis-server.ts';
import { renderRedisConfig } from '../../src/embedded/redis-config.ts';

const settings = {
  folder: '/data/a "b" \\c',
  port: 21_000,
  password: 'abc',
  version: { major: 7, minor: 0 },
};

test('nothing is evicted, every command is logged, and only this machine may connect', () => {
  const lines = renderRedisConfig(settings).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'bind 127.0.0.1',
      'requirepass abc',
      'appendonly yes',
      'maxmemory-policy noeviction',
      'aof-load-truncated yes',
      'dir "/data/a \\"b\\" \\\\c"',
    ]),
  );
});

test('the locale is pinned exactly where Redis knows the setting', () => {
  const render = (major: number, minor: number) =>
    renderRedisConfig({ ...settings, version: { major, minor } });
  expect(render(7, 0)).not.toContain('locale-collate');
  expect(render(7, 2)).toContain('locale-collate C');
  expect(render(8, 0)).toContain('locale-collate C');
});

test('versions of Redis and Valkey are read and ordered', () => {
  expect(parseRedisVersion('Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64')).toEqual({
    major: 7,
    minor: 0,
  });
  expect(parseRedisVersion('Valkey server v=8.0.1 sha=0')).toEqual({ major: 8, minor: 0 });
  expect(parseRedisVersion('v20.20.2')).toBeUndefined();
  const oldest = { major: 6, minor: 2 };
  expect(isOlder({ major: 6, minor: 1 }, oldest)).toBe(true);
  expect(isOlder({ major: 6, minor: 2 }, oldest)).toBe(false);
  expect(isOlder({ major: 7, minor: 0 }, oldest)).toBe(false);
  expect(isOlder({ major: 5, minor: 9 }, oldest)).toBe(true);
});
