import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, getMessage } from '../../src/lib/errors.ts';
import { assertRights } from '../../src/runtime/assert-rights.ts';
import { reachRedis } from '../../src/runtime/reach-redis.ts';
import { killAllBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { startSelfSigned } from '../support/self-signed.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

let redis: TestRedis;
let workplace: Workplace;
beforeAll(async () => {
  redis = await startRedis();
  workplace = createWorkplace();
}, 300_000);
afterEach(killAllBackhaul);
afterAll(async () => {
  await redis?.stop();
  await workplace?.remove();
});

/** Takes connections, and never says a word. */
async function startSilentServer() {
  const server = createServer((socket) => void socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  return { server, url: `redis://:secret@127.0.0.1:${address.port}` };
}

const failure = async (url: string, withinMs: number): Promise<string> => {
  const error = await reachRedis(url, (client) => client.ping(), withinMs).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(getMessage(error)).not.toContain('secret');
  return getMessage(error);
};

describe('reaching Redis', () => {
  it('hands back what was asked for', async () => {
    expect(await reachRedis(redis.url, (client) => client.ping())).toBe('PONG');
  });

  it('says so when nothing listens there', async () => {
    const { server, url } = await startSilentServer();
    server.close();
    await once(server, 'close');
    expect(await failure(url, 600)).toMatch(/Redis at 127\.0\.0\.1:\d+ .*connection refused.* REDIS_URL/);
  });

  it('says so when there is no such host', async () => {
    expect(await failure('redis://:secret@no-such-host.invalid:6379', 2_000)).toContain(
      'there is no host of that name',
    );
  });

  it('says what to do about a certificate that is not accepted', async () => {
    const { url, stop } = await startSelfSigned();
    try {
      expect(await failure(url.replace('https://', 'rediss://:secret@'), 600)).toMatch(
        /^Redis at localhost:\d+ cannot be used: the certificate of this Redis is of no authority .* set NODE_EXTRA_CA_CERTS/,
      );
    } finally {
      await stop();
    }
  });

  it('gives up when nothing is answered', async () => {
    const { server, url } = await startSilentServer();
    expect(await failure(url, 300)).toContain('no answer within 0.3 s');
    server.close();
  });

  it('says at once that the password is missing or wrong', async () => {
    const admin = new Redis(redis.url);
    await admin.config('SET', 'requirepass', 'right');
    try {
      expect(await failure(redis.url, 60_000)).toContain('refuses the user or the password');
      const wrong = redis.url.replace('redis://', 'redis://:secret@');
      expect(await failure(wrong, 60_000)).toContain('refuses the user or the password');
    } finally {
      await admin.config('SET', 'requirepass', '');
      admin.disconnect();
    }
  });
});

describe('a user of Redis', () => {
  let admin: Redis;
  beforeAll(() => {
    admin = new Redis(redis.url);
  });
  afterAll(() => admin.disconnect());
  const allow = (...rights: string[]) =>
    admin.call('ACL', 'SETUSER', 'bh', 'reset', 'on', '>secret', '~{bh}*', '&*', '+@all', ...rights);
  const url = () => redis.url.replace('redis://', 'redis://bh:secret@');

  it.each([
    ['-time', /permissions to run the 'time' command/],
    ['-@blocking', /permissions to run the 'bzpopmin' command/],
    ['-xread', /permissions to run the 'xread' command/],
    ['-info', /permissions to run the 'info' command/],
    ['-client|setname', /permissions to run the 'client\|setname' command/],
  ])('with %s is told so before anything waits', async (right, lacks) => {
    await allow(right);
    const asked = reachRedis(url(), async (client) => {
      await assertRights(client);
      await client.info();
    });
    await expect(asked).rejects.toThrow(ConfigError);
    await expect(asked).rejects.toThrow(lacks);
    await expect(asked).rejects.toThrow(
      /lacks a right .*Give it all commands, on keys that begin with \{bh\}/,
    );
  });

  it.each(['zrevrange', 'srem', 'lpush', 'hincrby', 'zrangebyscore', 'zpopmin', 'scard', 'rpoplpush', 'del'])(
    'without %s in scripts is told so before anything waits',
    async (command) => {
      await allow(`-${command}`);
      await expect(reachRedis(url(), assertRights)).rejects.toThrow(
        `lacks a right (it may not run '${command}')`,
      );
    },
  );

  it('a node of a cluster that does not hold the keys is no matter of rights', async () => {
    const moved = Object.assign(new Error('MOVED 3300 127.0.0.1:7001'), { name: 'ReplyError' });
    await expect(reachRedis(redis.url, () => Promise.reject(moved))).rejects.toThrow(
      /cannot be used: REDIS_URL names a node of a Redis Cluster that does not hold the keys/,
    );
  });

  it('a Redis that takes no writes now ends nothing', async () => {
    await allow();
    await admin.config('SET', 'min-replicas-to-write', '1');
    try {
      await reachRedis(url(), assertRights);
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0');
    }
  });

  it('a password that is missing is no matter of rights', async () => {
    const admin = new Redis(redis.url);
    await admin.config('SET', 'requirepass', 'right');
    try {
      await expect(reachRedis(redis.url, assertRights)).rejects.toThrow(/refuses the user or the password/);
    } finally {
      await admin.config('SET', 'requirepass', '');
      admin.disconnect();
    }
  });

  it('who has the rights that the runbook names lacks none, and nothing is kept of the question', async () => {
    await allow();
    await reachRedis(url(), assertRights);
    expect(await admin.keys('*rights*')).toEqual([]);
  });

  it.each(['run', 'worker'])(
    'lacks a right: %s ends with 2',
    async (command) => {
      await allow('-time');
      const manifest = workplace.manifest({
        name: 'rights',
        source: { type: 'amplitude', from: 'export.zip' },
      });
      const args = command === 'run' ? [command, manifest] : [command];
      const ended = await startBackhaul(args, {
        dataDir: workplace.dataDir('rights'),
        env: { REDIS_URL: url() },
      }).ended;
      expect(ended.code, ended.stderr).toBe(2);
      expect(ended.stderr).toContain('the user of REDIS_URL lacks a right (NOPERM');
      expect(ended.stderr).not.toContain('secret');
    },
    60_000,
  );
});

it('a run that waits for a silent Redis ends with Ctrl-C', async () => {
  const { server, url } = await startSilentServer();
  const manifest = workplace.manifest({
    name: 'silent',
    source: { type: 'amplitude', from: 'export.zip' },
  });
  const run = startBackhaul(['run', manifest], {
    dataDir: workplace.dataDir('silent'),
    env: { REDIS_URL: url },
  });
  await once(server, 'connection');
  run.kill('SIGINT');
  expect(await run.ended).toMatchObject({ code: null, signal: 'SIGINT' });
  server.close();
});

it('a run with a wrong REDIS_URL ends with 2 and says what to do', async () => {
  const manifest = workplace.manifest({
    name: 'wrong',
    source: { type: 'amplitude', from: 'export.zip' },
  });
  const env = { REDIS_URL: 'redis://:secret@127.0.0.1:1' };
  const run = startBackhaul(['run', manifest], { dataDir: workplace.dataDir('wrong'), env });
  const ended = await run.ended;
  expect(ended.code, ended.stderr).toBe(2);
  expect(ended.stderr).toContain('Redis at 127.0.0.1:1 cannot be used: nothing listens there');
  expect(ended.stderr).not.toContain('secret');
}, 30_000);
