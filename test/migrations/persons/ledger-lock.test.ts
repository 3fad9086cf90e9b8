import { EventEmitter, once } from 'node:events';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { assertHasLedger } from '../../../src/migrations/persons/lock/ledger-condition.ts';
import { ledgerLockKey, takeLedgerLock } from '../../../src/migrations/persons/lock/ledger-lock.ts';
import { THIS_PLACE } from '../../../src/migrations/run/this-place.ts';
import { startRedis } from '../../support/redis.ts';

it('who is told to end while the lock is asked for, or names its turn, leaves it to others', async () => {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    const stop = new AbortController();
    const deps = { redis, assertRunning: async () => {}, onWait: () => {}, signal: stop.signal };
    const asking = takeLedgerLock('a', { ...deps, migration: { id: '1', name: 'one' } });
    stop.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    // Commands of one connection are answered in order: the second of these follows the release.
    await redis.ping();
    expect(await redis.get(ledgerLockKey('a'))).toBeNull();

    const later = new AbortController();
    const lock = await takeLedgerLock('a', {
      ...deps,
      signal: later.signal,
      migration: { id: '2', name: 'two' },
    });
    const entering = lock.enterTurn(1);
    later.abort(new Error('enough'));
    await expect(entering).rejects.toThrow('enough');
    await lock.release();
    expect(await redis.get(ledgerLockKey('a'))).toBeNull();
  } finally {
    redis.disconnect();
    await server.stop();
  }
});

it.each([
  ['a machine that is gone', { host: 'gone', pid: 1 }],
  ['a container that has the same host name', { ...THIS_PLACE, pids: 'others', pid: 2 ** 22 - 7 }],
])(
  'who waits for a ledger waits for %s, and no longer though the clock of Redis was set back',
  async (_, place) => {
    const server = await startRedis();
    const redis = new Redis(server.url);
    try {
      const key = ledgerLockKey('a');
      const holder = { ...place, migration: '2', name: 'two', token: '' };
      await redis.set(key, JSON.stringify(holder), 'PX', 86_400_000);
      const lefts: number[] = [];
      const lock = await takeLedgerLock('a', {
        redis,
        migration: { id: '1', name: 'one' },
        onWait: () => {},
        assertRunning: async () => {
          lefts.push(await redis.pttl(key));
          await redis.pexpire(key, 1); // as after 15 s
        },
        signal: new AbortController().signal,
      });
      await lock.release();
      expect(lefts).not.toEqual([]);
      expect(Math.max(...lefts)).toBeLessThanOrEqual(15_000);
    } finally {
      redis.disconnect();
      await server.stop();
    }
  },
);

it('who waits for a ledger, or has it, ends when told to although Redis is gone for good', async () => {
  const server = await startRedis();
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  try {
    const stop = new AbortController();
    const looks = new EventEmitter();
    const deps = {
      redis,
      assertRunning: async () => {
        looks.emit('again');
        await redis.ping();
      },
      onWait: () => void looks.emit('first'),
      signal: stop.signal,
    };
    const lock = await takeLedgerLock('a', { ...deps, migration: { id: '1', name: 'one' } });
    const holder = { host: 'elsewhere', pid: 1, migration: '2', name: 'two', token: '' };
    await redis.set(ledgerLockKey('b'), JSON.stringify(holder));
    const first = once(looks, 'first');
    const again = once(looks, 'again');
    const waiting = takeLedgerLock('b', { ...deps, migration: { id: '1', name: 'one' } });
    await first;
    await server.kill9();
    const has = lock.assertHeld();
    await again; // it asks a Redis that will not answer
    stop.abort(new Error('enough'));
    const ends = await Promise.allSettled([waiting, has]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    lock.release().catch(() => {}); // without Redis there is no answer
  } finally {
    redis.disconnect();
    await server.stop();
  }
}, 10_000);

it('a worker that slept since an earlier turn sends nothing, also before the next one is open', async () => {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    const lock = await takeLedgerLock('a', {
      redis,
      migration: { id: '1', name: 'one' },
      assertRunning: async () => {},
      onWait: () => {},
      signal: new AbortController().signal,
    });
    const sends = (turn: number) =>
      assertHasLedger(redis, { id: 'a' }, { migration: '1', turn }).then(
        () => true,
        () => false,
      );
    expect(await sends(3)).toBe(false);
    await lock.enterTurn(4);
    expect([await sends(3), await sends(4)]).toEqual([false, true]);
    await lock.release();
    // A producer of an earlier version names no turn.
    const earlier = { host: 'elsewhere', pid: 1, migration: '1', name: 'one', token: '' };
    await redis.set(ledgerLockKey('a'), JSON.stringify(earlier));
    expect(await sends(3)).toBe(true);
  } finally {
    redis.disconnect();
    await server.stop();
  }
});
