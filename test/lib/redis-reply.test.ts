import { Redis, ReplyError } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis } from '../../src/lib/redis/connect-redis.ts';
import {
  classifyReply,
  explainRefusedByRedis,
  getReplyCode,
  takesWrites,
} from '../../src/lib/redis/redis-reply.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const reply = (message: string): Error => new (ReplyError as new (message: string) => Error)(message);

const OUTAGES: readonly [code: string, message: string][] = [
  ['OOM', "OOM command not allowed when used memory > 'maxmemory'."],
  ['OOM', "OOM command not allowed when used memory > 'maxmemory'. script: 1b936e3f, on @user_script:4."],
  ['READONLY', "READONLY You can't write against a read only replica."],
  ['LOADING', 'LOADING Redis is loading the dataset in memory'],
  ['LOADING', 'LOADING Valkey is loading the dataset in memory'],
  ['MISCONF', 'MISCONF Redis is configured to save RDB snapshots, but is unable to persist on disk.'],
  ['NOREPLICAS', 'NOREPLICAS Not enough good replicas to write.'],
  ['MASTERDOWN', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
  ['CLUSTERDOWN', 'CLUSTERDOWN The cluster is down'],
  ['TRYAGAIN', 'TRYAGAIN Multiple keys request during rehashing of slot'],
  ['BUSY', 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'],
  ['UNBLOCKED', 'UNBLOCKED force unblock from blocking operation, instance state changed'],
  ['OOM', 'ERR Error running script (call to f_1b936e3f): @user_script:4: @user_script: 4: -OOM no memory'],
  ['READONLY', "ERR Error running script (call to f_1b936e3f): @user_script:4: -READONLY You can't write"],
  ['OOM', 'OOM'],
  ['MAXCLIENTS', 'ERR max number of clients reached'],
];
const REFUSALS: readonly [code: string, message: string][] = [
  ['WRONGPASS', 'WRONGPASS invalid username-password pair or user is disabled.'],
  ['NOAUTH', 'NOAUTH Authentication required.'],
  ['NOPERM', "NOPERM this user has no permissions to run the 'eval' command"],
  [
    'NOPERM',
    "ERR The user executing the script can't run this command or subcommand script: 1b936e3f, on @user_script:4.",
  ],
  [
    'NOPERM',
    "ERR ACL failure in script: User bob has no permissions to run the 'hset' command script: 1b936e3f, on @user_script:4.",
  ],
  ['MOVED', 'MOVED 3999 127.0.0.1:6381'],
];
const OTHERS: readonly [code: string | undefined, message: string][] = [
  ['WRONGTYPE', 'WRONGTYPE Operation against a key holding the wrong kind of value'],
  ['BUSYGROUP', 'BUSYGROUP Consumer Group name already exists'],
  ['BUSYKEY', 'BUSYKEY Target key name already exists.'],
  ['NOSCRIPT', 'NOSCRIPT No matching script. Please use EVAL.'],
  ['EXECABORT', 'EXECABORT Transaction discarded because of previous errors.'],
  ['ERR', 'ERR unknown command OOM '],
  ['ERR', 'ERR the value is READONLY today'],
  ['OOMPH', 'OOMPH'],
  [undefined, 'oom in lower case'],
  [undefined, 'Could not find OOM here'],
];

describe('an error reply of Redis', () => {
  it.each(OUTAGES)('with code %s is waited out: %s', (code, message) => {
    expect([getReplyCode(reply(message)), classifyReply(reply(message))]).toEqual([code, 'outage']);
  });

  it.each(REFUSALS)('with code %s ends with a sentence: %s', (code, message) => {
    expect([getReplyCode(reply(message)), classifyReply(reply(message))]).toEqual([code, 'refusal']);
  });

  it.each(OTHERS)('with code %s is neither: %s', (code, message) => {
    expect([getReplyCode(reply(message)), classifyReply(reply(message))]).toEqual([code, 'other']);
  });

  it('is none where an error only has its text', () => {
    for (const [, message] of [...OUTAGES, ...REFUSALS])
      expect(classifyReply(new Error(message))).toBe('other');
    expect(classifyReply('OOM command not allowed')).toBe('other');
  });

  it('is found in what wraps it', () => {
    const oom = reply('OOM command not allowed');
    const aborted = reply('EXECABORT Transaction discarded because of previous errors.');
    expect(classifyReply(Object.assign(aborted, { previousErrors: [oom] }))).toBe('outage');
    expect(classifyReply(new AggregateError([new Error('x'), oom]))).toBe('outage');
    expect(classifyReply(new Error('the job failed', { cause: oom }))).toBe('outage');
    expect(classifyReply(new AggregateError([oom, reply('NOPERM no permissions')]))).toBe('refusal');
  });
});

it('is explained: the rights of the user, or the node of a cluster', () => {
  expect(explainRefusedByRedis(reply("NOPERM no permissions to run 'set'"))).toMatch(
    /^Redis refuses the user/,
  );
  expect(explainRefusedByRedis(reply('MOVED 230 127.0.0.1:7831'))).toMatch(
    /^REDIS_URL names a node of a Redis Cluster that does not hold .*\(MOVED 230 127\.0\.0\.1:7831\)/,
  );
});

describe('a real Redis', () => {
  let server: TestRedis;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  it('is waited for whatever command meets its outage: alone, in a pipeline, or in a script', async () => {
    const redis = connectRedis(server.url);
    const met: (string | undefined)[] = [];
    let isFull = false;
    redis.on('error', (error) => {
      met.push(getReplyCode(error));
      if (!isFull) return;
      isFull = false;
      void admin.config('SET', 'maxmemory', '0');
    });
    const meet = async (work: () => Promise<unknown>) => {
      await admin.config('SET', 'maxmemory', '1');
      isFull = true;
      return work();
    };
    try {
      expect(await meet(() => redis.set('a', '1'))).toBe('OK');
      expect(await meet(() => redis.pipeline().set('b', '1').set('c', '1').exec())).toEqual([
        [null, 'OK'],
        [null, 'OK'],
      ]);
      const script = "return redis.call('SET', KEYS[1], '1')";
      expect(await meet(() => redis.eval(script, 1, 'd'))).toBe('OK');
      expect(new Set(met)).toEqual(new Set(['OOM']));
    } finally {
      redis.disconnect();
    }
  });

  it('ends a command that the user may not send', async () => {
    await admin.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@read', '+info');
    const redis = connectRedis(server.url.replace('redis://', 'redis://reader:secret@'));
    redis.on('error', () => {});
    try {
      const refused = await redis.set('a', '2').catch((error: unknown) => error);
      expect([getReplyCode(refused), classifyReply(refused)]).toEqual(['NOPERM', 'refusal']);
      await admin.call('ACL', 'SETUSER', 'reader', '+eval');
      const script = "return redis.call('SET', KEYS[1], '2')";
      const inScript = await redis.eval(script, 1, 'a').catch((error: unknown) => error);
      expect([getReplyCode(inScript), classifyReply(inScript)]).toEqual(['NOPERM', 'refusal']);
    } finally {
      redis.disconnect();
    }
  });
});

it.each([
  ['role:master\r\nused_memory:900\r\nmaxmemory:0\r\naof_last_write_status:ok\r\n', true],
  ['role:master\r\nused_memory:900\r\nmaxmemory:1000\r\n', true],
  ['role:master\r\nused_memory:1000\r\nmaxmemory:1000\r\n', false],
  ['role:master\r\naof_last_write_status:err\r\n', false],
  ['role:slave\r\n', false],
])('reads from INFO whether a server takes writes: %j', (info, expected) => {
  expect(takesWrites(info)).toBe(expected);
});
