import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { connectRedis, isRedisOutage } from '../../src/lib/connect-redis.ts';

describe('an answer of Redis', () => {
  it.each([
    "OOM command not allowed when used memory > 'maxmemory'.",
    "OOM command not allowed when used memory > 'maxmemory'. script: 1b936e3f, on @user_script:4.",
    "READONLY You can't write against a read only replica.",
    'LOADING Redis is loading the dataset in memory',
    'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist on disk.',
    'NOREPLICAS Not enough good replicas to write.',
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'CLUSTERDOWN The cluster is down',
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
    "ERR Error running script (call to f_1b936e3f): @user_script:4: @user_script: 4: -OOM command not allowed when used memory > 'maxmemory'.",
    "ERR Error running script (call to f_1b936e3f): @user_script:4: -READONLY You can't write against a read only replica.",
  ])('is an outage to wait out: %s', (message) => {
    expect(isRedisOutage(new Error(message))).toBe(true);
  });

  it.each([
    'WRONGPASS invalid username-password pair or user is disabled.',
    'NOAUTH Authentication required.',
    'NOPERM this user has no permissions',
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'BUSYGROUP Consumer Group name already exists',
    'NOSCRIPT No matching script. Please use EVAL.',
    'ERR unknown command OOM ',
    'OOMPH',
  ])('is none: %s', (message) => {
    expect(isRedisOutage(new Error(message))).toBe(false);
  });
});

it('leaves the methods of strings in the form for which V8 compiles', () => {
  setFlagsFromString('--allow-natives-syntax');
  const isFast = () => runInThisContext('%HasFastProperties(String.prototype)');

  connectRedis('redis://127.0.0.1:1')
    .on('error', () => {})
    .disconnect();

  expect(isFast()).toBe(true);
});
