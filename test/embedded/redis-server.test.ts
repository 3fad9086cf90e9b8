import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CLEAN_STOPS_KEY, CRASHES_KEY } from '../../src/contract/redis-keys.ts';
import { readProcessIdentity } from '../../src/embedded/process-identity.ts';
import { startRedisServer } from '../../src/embedded/redis-server.ts';
import { readServices } from '../../src/embedded/services.ts';
import { ConfigError, UnavailableError } from '../../src/lib/errors.ts';
import { ALL } from '../support/form.ts';
import { connect, createDataDir, quiet, readIdentity } from './support.ts';

async function start(dataDir: string) {
  const server = await startRedisServer({ dataDir, log: quiet });
  onTestFinished(server.stop);
  return server;
}

test('nobody gets in without the password, which only the owner can read', async () => {
  const dataDir = createDataDir();
  const server = await start(dataDir);
  const stranger = connect(`redis://127.0.0.1:${server.address.port}`);
  await expect(stranger.set('a', '1')).rejects.toThrow(/NOAUTH/);
  expect(await connect(server.url).set('a', '1')).toBe('OK');
  expect(statSync(join(dataDir, 'redis/redis.conf')).mode & 0o777).toBe(0o600);
});

test('keys survive a stop and a start, even with a log cut off in mid-write', async () => {
  const dataDir = createDataDir();
  const first = await start(dataDir);
  await connect(first.url).set('kept', 'yes');
  await first.stop();
  expect(await first.exited).toEqual({ code: 0, signal: null });
  const folder = join(dataDir, 'redis/appendonlydir');
  const incremental = readdirSync(folder).find((name) => name.endsWith('.incr.aof'));
  appendFileSync(join(folder, incremental ?? ''), '*3\r\n$3\r\nSET\r\n$4\r\nlo');
  const second = await start(dataDir);
  expect(second.url).not.toBe(first.url);
  expect(await connect(second.url).get('kept')).toBe('yes');
});

test('stops in order and crashes are told to the servers that follow, until the machine goes down', async () => {
  const dataDir = createDataDir();
  const runId = async (url: string) => /run_id:(\w+)/.exec(await connect(url).info('server'))?.[1];
  const continued = (url: string) => connect(url).zrange(CLEAN_STOPS_KEY, '0', '-1');
  const crashed = (url: string) => connect(url).zrange(CRASHES_KEY, '0', '-1');
  const first = await start(dataDir);
  const firstId = await runId(first.url);
  await first.stop();
  const second = await start(dataDir);
  expect(await continued(second.url)).toEqual([firstId]);
  const secondId = await runId(second.url);
  await second.stop();
  const third = await start(dataDir);
  expect(await continued(third.url)).toEqual([firstId, secondId]);
  const thirdId = await runId(third.url);
  process.kill(third.pid, 'SIGKILL');
  await third.exited;
  await third.stop();
  const fourth = await start(dataDir);
  expect(await continued(fourth.url)).toEqual([firstId, secondId]);
  expect(await crashed(fourth.url)).toEqual([thirdId]);
  const scores = await Promise.all([
    connect(fourth.url).zscore(CLEAN_STOPS_KEY, secondId ?? ''),
    connect(fourth.url).zscore(CRASHES_KEY, thirdId ?? ''),
  ]);
  expect(Number(scores[1])).toBeGreaterThan(Number(scores[0]));

  process.kill(fourth.pid, 'SIGKILL');
  await fourth.exited;
  await fourth.stop();
  const file = join(dataDir, 'redis/last-run.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"boot":"[^"]*"/, '"boot":"of another start"'));
  const fifth = await start(dataDir);
  expect([await continued(fifth.url), await crashed(fifth.url)]).toEqual([[], []]);
});

test('what a killed owner left on the same files is gone before Redis starts', async () => {
  const dataDir = createDataDir();
  const leftover = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const exited = once(leftover, 'exit');
  const identity = readProcessIdentity(leftover.pid ?? 0);
  mkdirSync(join(dataDir, 'redis'));
  writeFileSync(join(dataDir, 'redis/redis.pid.json'), JSON.stringify(identity));
  const server = await start(dataDir);
  expect(await exited).toEqual([null, 'SIGTERM']);
  expect(readIdentity(join(dataDir, 'redis/redis.pid.json')).pid).toBe(server.pid);
});

/** What a crash leaves in the files, of which npm test takes the two that are seen most often. */
const DAMAGES: [string, RegExp, (path: string) => void][] = [
  [
    'zeros in its log',
    /\.incr\.aof$/,
    (path: string) => writeFileSync(path, Buffer.alloc(64), { flag: 'r+' }),
  ],
  ['an empty manifest', /\.manifest$/, (path: string) => writeFileSync(path, '')],
  ['a manifest of something else', /\.manifest$/, (path: string) => writeFileSync(path, 'hello\n')],
  ['a log that is gone', /\.incr\.aof$/, (path: string) => rmSync(path)],
  ['a base of something else', /\.base\.rdb$/, (path: string) => writeFileSync(path, 'hello, no RDB')],
];

test.each(ALL ? DAMAGES : DAMAGES.slice(0, 2))(
  '%s: it starts without its files, which are put aside',
  async (_, pattern, damage) => {
    const dataDir = createDataDir();
    const first = await start(dataDir);
    await connect(first.url).set('kept', 'yes');
    await first.stop();
    const folder = join(dataDir, 'redis/appendonlydir');
    const name = readdirSync(folder).find((each) => pattern.test(each)) ?? '';
    damage(join(folder, name));
    const second = await start(dataDir);
    expect(await connect(second.url).get('kept')).toBeNull();
    expect(await connect(second.url).zcard(CLEAN_STOPS_KEY)).toBe(0); // nothing of the count is taken for known
    const aside = readdirSync(dataDir).filter((each) => each.startsWith('redis.damaged-'));
    expect(readdirSync(join(dataDir, aside[0] ?? ''))).toContain('appendonlydir');
  },
);

test.each(['', '{"pid":', 'null'])(
  'a file of %j in place of who was left running is nobody',
  async (text) => {
    const dataDir = createDataDir();
    mkdirSync(join(dataDir, 'redis'));
    writeFileSync(join(dataDir, 'redis/redis.pid.json'), text);
    const server = await start(dataDir);
    expect(readIdentity(join(dataDir, 'redis/redis.pid.json')).pid).toBe(server.pid);
    writeFileSync(join(dataDir, 'services.json'), text);
    expect(readServices(dataDir, 1)).toBeUndefined();
  },
);

test('a port that is taken is said, with the end of the log', async () => {
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void squatter.close());
  const taken = squatter.address();
  const port = typeof taken === 'object' && taken !== null ? taken.port : 0;
  const options = { dataDir: createDataDir(), log: quiet, address: { port, password: 'secret' } };
  const failure = await startRedisServer(options).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UnavailableError);
  expect(String(failure)).toMatch(/while starting.*Address already in use/s);
});

test('a Redis that is missing, too old or no Redis at all is refused with the way out', async () => {
  const dataDir = createDataDir();
  const program = (name: string, says: string) => {
    const path = join(dataDir, name);
    writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const refusal = async (binary: string) => {
    const error = await startRedisServer({ dataDir, log: quiet, binary }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    return String(error);
  };
  expect(await refusal(join(dataDir, 'nothing-here'))).toMatch(/looked for .*setup\.mjs.*REDIS_URL/s);
  expect(await refusal(program('old', 'Redis server v=6.0.16 sha=0'))).toMatch(/version 6\.0/);
  expect(await refusal(program('other', 'hello'))).toMatch(/prints hello/);
});
