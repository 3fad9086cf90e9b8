import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findRedisServer } from '../../src/embedded/find-redis-server.ts';
import { isAlive } from '../../src/embedded/process-identity.ts';
import { createSupervisor, findRunningRedis } from '../../src/embedded/supervisor.ts';
import { ConfigError } from '../../src/lib/errors.ts';
import {
  connect,
  createDataDir,
  quiet,
  readIdentity,
  redisPid,
  startOwnerProcess,
  waitUntilGone,
} from './support.ts';

const REDIS_ONLY = { redis: true, api: false };

async function supervise(dataDir: string, want = REDIS_ONLY) {
  const supervisor = await createSupervisor({ dataDir, want, log: quiet });
  onTestFinished(supervisor.close);
  return supervisor;
}

test('a Redis killed with SIGKILL comes back at the same address with its data', async () => {
  const supervisor = await supervise(createDataDir());
  const client = connect(supervisor.redisUrl);
  await client.set('kept', 'yes');
  const before = await redisPid(client);
  process.kill(before, 'SIGKILL');
  expect(await client.get('kept')).toBe('yes');
  expect(await redisPid(client)).not.toBe(before);
});

test('a Redis that keeps dying is given up, and every listener hears of it', async () => {
  const supervisor = await supervise(createDataDir());
  let failed: Error | undefined;
  const failure = new Promise<Error>((resolve) => supervisor.onFailure(resolve));
  supervisor.onFailure((error) => {
    failed = error;
  });
  const client = connect(supervisor.redisUrl);
  const killing = (async () => {
    while (failed === undefined) {
      const pid = await Promise.race([redisPid(client), failure.then(() => undefined)]);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
  })();
  expect((await failure).message).toMatch(/embedded Redis died 6 times within a minute/);
  await killing;
  const late = new Promise<Error>((resolve) => supervisor.onFailure(resolve));
  expect(await late).toBe(failed);
});

test('close leaves nothing running and nothing published, and the folder free for the next owner', async () => {
  const dataDir = createDataDir();
  const supervisor = await supervise(dataDir);
  const redis = readIdentity(join(dataDir, 'redis/redis.pid.json'));
  expect(await findRunningRedis(dataDir)).toBe(supervisor.redisUrl);
  expect(statSync(join(dataDir, 'services.json')).mode & 0o777).toBe(0o600);
  await Promise.all([supervisor.close(), supervisor.close()]);
  expect(isAlive(redis)).toBe(false);
  expect(existsSync(join(dataDir, 'services.json'))).toBe(false);
  expect(existsSync(join(dataDir, 'redis/redis.pid.json'))).toBe(false);
  expect(readdirSync(dataDir).filter((name) => name.endsWith('.draft'))).toEqual([]);
  expect(await findRunningRedis(dataDir)).toBeUndefined();
  expect((await supervise(dataDir)).owner).toBe(true);
});

test('an owner that lost the folder writes nothing there any more', async () => {
  const dataDir = createDataDir();
  const supervisor = await supervise(dataDir);
  const redis = readIdentity(join(dataDir, 'redis/redis.pid.json'));
  const failed = new Promise<Error>((resolve) => supervisor.onFailure(resolve));
  // As another container leaves it that took over meanwhile.
  const next = { pid: 1, started: 'x', host: hostname(), pids: 'of another container' };
  const files = ['owner.2.lock', 'services.json', 'redis/redis.pid.json', 'redis/last-run.json'];
  const write = () => {
    writeFileSync(join(dataDir, files[0] ?? ''), JSON.stringify({ kind: 'owned', owner: next }));
    for (const name of files.slice(1)) writeFileSync(join(dataDir, name), JSON.stringify({ generation: 2 }));
  };
  const read = () => files.map((name) => readFileSync(join(dataDir, name), 'utf8'));
  write();
  const written = read();
  rmSync(join(dataDir, 'owner.1.lock'));
  expect((await failed).message).toMatch(/^Another process has taken the data folder/);
  await waitUntilGone(redis);
  await supervisor.close();
  expect(read()).toEqual(written);
});

test('an owner that lost the folder while its services started leaves what the next one has published', async () => {
  const dataDir = createDataDir();
  const { command } = await findRedisServer();
  const next = {
    kind: 'owned',
    owner: { pid: 1, started: 'x', host: hostname(), pids: 'of another container' },
  };
  // Another container takes over just before Redis starts.
  const server = join(dataDir, 'slow-redis');
  const take = [
    `cd '${dataDir}'`,
    'rm owner.1.lock',
    `echo '${JSON.stringify(next)}' > owner.2.lock`,
    `echo '{"generation":2}' > services.json`,
  ];
  const script = `#!/bin/sh\nif [ "$1" != --version ]; then ${take.join(' && ')}; fi\nexec '${command}' "$@"\n`;
  writeFileSync(server, script, { mode: 0o700 });
  const starting = createSupervisor({ dataDir, want: REDIS_ONLY, redisServer: server, log: quiet });
  await expect(starting).rejects.toThrow(/^Another process has taken the data folder/);
  expect(readFileSync(join(dataDir, 'services.json'), 'utf8')).toBe('{"generation":2}\n');
  expect(readFileSync(join(dataDir, 'redis/last-run.json'), 'utf8'), 'it was killed').toContain(
    '"inOrder":false',
  );
});

test('a second process attaches to the Redis of the first, and its end leaves the first alone', async () => {
  const dataDir = createDataDir();
  const supervisor = await supervise(dataDir);
  const second = await startOwnerProcess(dataDir, REDIS_ONLY);
  expect(second.said).toMatchObject({ owner: false, redisUrl: supervisor.redisUrl });
  await second.end();
  expect(await connect(supervisor.redisUrl).ping()).toBe('PONG');
});

test('of two processes that start together one owns and the other waits for it', async () => {
  const dataDir = createDataDir();
  const both = await Promise.all([
    startOwnerProcess(dataDir, REDIS_ONLY),
    startOwnerProcess(dataDir, REDIS_ONLY),
  ]);
  expect(both.filter(({ said }) => said.owner)).toHaveLength(1);
  expect(both[0].said.redisUrl).toBe(both[1].said.redisUrl);
  await Promise.all(both.map((each) => each.end()));
});

test('an owner killed with SIGKILL: attached processes hear of it, its Redis ends, the next takes over', async () => {
  const dataDir = createDataDir();
  const owner = await startOwnerProcess(dataDir, REDIS_ONLY);
  await connect(owner.said.redisUrl).set('kept', 'yes');
  const redis = readIdentity(join(dataDir, 'redis/redis.pid.json'));
  const attached = await supervise(dataDir);
  expect(attached.owner).toBe(false);
  const failure = new Promise<Error>((resolve) => attached.onFailure(resolve));
  owner.process.kill('SIGKILL');
  expect((await failure).message).toMatch(/has ended/);
  const next = await supervise(dataDir);
  expect(next.owner).toBe(true);
  await waitUntilGone(redis);
  expect(await connect(next.redisUrl).get('kept')).toBe('yes');
});

test('who needs the API where the owner runs none is told so', async () => {
  const dataDir = createDataDir();
  await supervise(dataDir);
  const refused = await supervise(dataDir, { redis: true, api: true }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConfigError);
  expect(String(refused)).toMatch(new RegExp(`process ${process.pid}.*BACKHAUL_DATA_DIR`, 's'));
});

test('with a Redis of its own and no API wanted, nothing is started and nothing locked', async () => {
  const dataDir = createDataDir();
  const redisUrl = 'redis://redis.example.com:6379';
  const supervisor = await createSupervisor({ dataDir, want: REDIS_ONLY, redisUrl, log: quiet });
  expect(supervisor).toMatchObject({ redisUrl, owner: false });
  expect(readdirSync(dataDir)).toEqual([]);
  await supervisor.close();
});
