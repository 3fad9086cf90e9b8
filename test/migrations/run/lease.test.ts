import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { ConfigError, FencedOutError, UnavailableError } from '../../../src/lib/errors.ts';
import { applyEvent } from '../../../src/migrations/life-store.ts';
import {
  type AcquiringEvent,
  acquireLease,
  ControlError,
  RedisWipedError,
} from '../../../src/migrations/run/lease.ts';
import { THIS_PLACE } from '../../../src/migrations/run/this-place.ts';
import { leaseKey, migrationKey, mirrorControl } from '../../../src/state/checkpoints.ts';
import { loadControl, loadNewestControl } from '../../../src/state/control.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { loadEpoch, openEpoch } from '../../../src/state/epochs.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { createMigration, type MigrationRecord } from '../../../src/state/migrations.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { saveControl } from '../../support/save-control.ts';
import { until } from '../../support/until.ts';

let server: TestRedis;
let redis: Redis;
let folder: string;
let number = 0;
let record: MigrationRecord;

const OPENING = { manifest: { version: 1 }, baseDir: '/data' };
const now = () => new Date('2024-01-01T00:00:00Z');
const take = (event: AcquiringEvent = { kind: 'run' }) =>
  acquireLease(record, OPENING, event, { staging: createFolderStaging(folder), redis, now });

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  folder = await mkdtemp(join(tmpdir(), 'backhaul-lease-'));
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  number += 1;
  record = {
    id: `id-${number}`,
    name: `m${number}`,
    identity: {},
    identitySha256: '',
    mapping: 'amplitude@1',
    destination: 'bundled API',
    files: [],
    createdAt: '2024-01-01T00:00:00.000Z',
    opening: { manifest: {}, baseDir: '/data' },
  };
  await createMigration(createFolderStaging(folder), record);
});

describe('acquiring the lease of a migration', () => {
  it('opens epoch after epoch, each with the manifest it was acquired with', async () => {
    const first = await take();
    await first.release();
    const second = await take();
    expect([first.epoch, second.epoch]).toEqual([1, 2]);
    expect(await loadEpoch(createFolderStaging(folder), record.name, 2)).toMatchObject(OPENING);
    await second.assertRunning();
  });

  it('is refused on a storage whose listings are behind, and not as if another producer had it', async () => {
    const staging = createFolderStaging(folder);
    const behind: Staging = { ...staging, async *list() {} };
    const lease = acquireLease(record, OPENING, { kind: 'run' }, { staging: behind, redis, now });
    await expect(lease).rejects.toThrow(/does not list what was written to it a moment ago/);
  });

  it('is not had by one that was begun under the name of another', async () => {
    const other = { ...record, id: 'before it was removed' };
    const staging = createFolderStaging(folder);
    const lease = acquireLease(other, OPENING, { kind: 'run' }, { staging, redis, now });
    await expect(lease).rejects.toThrow(FencedOutError);
    expect(await loadEpoch(staging, record.name, 1)).toBeUndefined();
    expect((await take()).epoch).toBe(1);
  });

  it('stops the one who held it before', async () => {
    const first = await take();
    await first.release();
    const second = await take();
    await expect(first.assertRunning()).rejects.toThrow(FencedOutError);
    // The lease is free again, but its epoch is over.
    await second.release();
    await expect(first.assertRunning()).rejects.toThrow(FencedOutError);
  });

  it('is refused while another process of this machine holds it, and the message says which', async () => {
    const holder = JSON.stringify({ ...THIS_PLACE, pid: process.ppid, token: 'other' });
    await redis.set(leaseKey(record.id), holder);
    await expect(take()).rejects.toThrow(ConfigError);
    await expect(take()).rejects.toThrow(`process ${process.ppid}`);
  });

  it('is refused to a second producer of the same process, and not to one after an earlier process', async () => {
    const taken = await take();
    await expect(take()).rejects.toThrow(`process ${process.pid}`);
    await taken.release();
    const holder = JSON.stringify({ ...THIS_PLACE, pid: process.pid, token: 'of an earlier process' });
    await redis.set(leaseKey(record.id), holder);
    expect((await take()).epoch).toBe(2);
  });

  it('takes the lease of a process that is gone at once', async () => {
    const holder = JSON.stringify({ ...THIS_PLACE, pid: 2 ** 22 - 7, token: 'dead' });
    await redis.set(leaseKey(record.id), holder);
    expect((await take()).epoch).toBe(1);
  });

  it('is refused while another container holds it, or another machine of the same name, whose pids are not here', async () => {
    const elsewhere = { ...THIS_PLACE, pids: 'those of another container' };
    const holder = JSON.stringify({ ...elsewhere, pid: 2 ** 22 - 7, token: 'other' });
    await redis.set(leaseKey(record.id), holder);
    await expect(take()).rejects.toThrow(`process ${2 ** 22 - 7}`);
    expect(await redis.get(leaseKey(record.id))).toBe(holder);
  });

  it('waits for the lease of another machine no longer than it lasts, though the clock of Redis was set back', async () => {
    const holder = JSON.stringify({ host: 'gone', pid: 1, token: 'dead' });
    const key = leaseKey(record.id);
    for (const [lasts, most] of [
      [86_400_000, 15_000],
      [9_000, 9_000],
    ] as const) {
      await redis.set(key, holder, 'PX', lasts);
      await expect(take()).rejects.toThrow('process 1 on gone');
      expect(await redis.pttl(key)).toBeLessThanOrEqual(most);
    }
    await redis.pexpire(key, 1);
    await until('the lease ends', async () => ((await redis.exists(key)) === 0 ? true : undefined));
    expect((await take()).epoch).toBe(1);
  });

  it('ends where staging does not hold the migration any more, and not where staging is away', async () => {
    const whole = createFolderStaging(folder);
    let isAway = true;
    const get: Staging['get'] = async (key, into) => {
      if (isAway) throw new UnavailableError('staging is away');
      return whole.get(key, into);
    };
    let staging: Staging = whole;
    const switched: Staging = { ...whole, get: (key, into) => staging.get(key, into) };
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const taken = await acquireLease(record, OPENING, { kind: 'run' }, { staging: switched, redis, now });
      staging = { ...whole, get };
      await rm(join(folder, record.name), { recursive: true });
      await vi.advanceTimersByTimeAsync(15_000);
      await taken.assertRunning();
      isAway = false;
      await vi.advanceTimersByTimeAsync(15_000);
      const end = await until('the run ends', () => taken.assertRunning().then(() => undefined, String));
      expect(end).toContain(`no longer holds migration "${record.name}"`);
      await taken.release();
    } finally {
      vi.useRealTimers();
    }
  });

  it('is possible again once Redis lost its memory, under an epoch that supersedes the one before', async () => {
    const taken = await take();
    await redis.flushall();
    await expect(taken.assertRunning()).rejects.toThrow(RedisWipedError);
    const renewed = await take({ kind: 'redis_wiped', epoch: taken.epoch });
    expect(renewed.epoch).toBe(2);
    await expect(taken.assertRunning()).rejects.toThrow(FencedOutError);
  });

  it('is acquired again when Redis comes back with an older state, whatever lease that remembers', async () => {
    const first = await take();
    await redis.hset(migrationKey(record.id), 'control', 'stopped');
    const older = await redis.hgetall(migrationKey(record.id));
    await first.release();
    const taken = await take({ kind: 'resume' });
    await redis.hset(migrationKey(record.id), older);
    const gone = JSON.stringify({ ...THIS_PLACE, pid: 2 ** 22 - 7, token: 'dead' });
    await redis.set(leaseKey(record.id), gone);
    await expect(taken.assertRunning()).rejects.toThrow(RedisWipedError);
    const renewed = await take({ kind: 'redis_wiped', epoch: taken.epoch });
    expect(renewed.epoch).toBe(3);
    await renewed.assertRunning();
  });

  it('ends as superseded by a lease of another process only where that opened an epoch, or lives', async () => {
    const taken = await take();
    const other = (pid: number) => JSON.stringify({ ...THIS_PLACE, pid, token: 'other' });
    await redis.set(leaseKey(record.id), other(2 ** 22 - 7));
    await expect(taken.assertRunning()).rejects.toThrow(RedisWipedError);
    await redis.set(leaseKey(record.id), other(process.ppid));
    await expect(take({ kind: 'redis_wiped', epoch: 1 })).rejects.toThrow(FencedOutError);
    await openEpoch(createFolderStaging(folder), record.name, 2, { openedAt: '', ...OPENING });
    await expect(taken.assertRunning()).rejects.toThrow(FencedOutError);
  });

  it.each([7, 1])(
    'goes above epoch %i, which Redis remembers and staging has lost: its jobs may still run',
    async (remembered) => {
      await redis.hset(migrationKey(record.id), 'epoch', remembered);
      const taken = await take();
      expect(taken.epoch).toBe(remembered + 1);
      await taken.assertRunning();
    },
  );

  it('hears of a pause that only staging knows', async () => {
    const taken = await take();
    const staging = createFolderStaging(folder);
    await saveControl(staging, record.name, { state: 'paused', reason: '', at: '' });
    await taken.assertRunning();
    await expect(taken.assertNotHeld()).rejects.toThrow(ControlError);
  });

  it('clears a pause in staging, and hears of a later one', async () => {
    const taken = await take();
    expect(await loadControl(createFolderStaging(folder), record.name)).toMatchObject({ state: 'running' });
    await redis.hset(migrationKey(record.id), 'control', 'paused');
    await expect(taken.assertRunning()).rejects.toThrow(ControlError);
  });

  it.each(['paused', 'cancelled'] as const)(
    'is refused to a run while staging says %s, and granted to a resume',
    async (state) => {
      const staging = createFolderStaging(folder);
      await saveControl(staging, record.name, { state, reason: 'too early', at: '' });
      await expect(take()).rejects.toThrow(`migration "${record.name}" is ${state} (too early)`);
      expect(await redis.exists(leaseKey(record.id))).toBe(0);
      expect((await take({ kind: 'resume' })).epoch).toBe(1);
      expect(await loadControl(staging, record.name)).toMatchObject({ state: 'running' });
    },
  );

  it('ends with a pause that only staging remembers, when Redis lost its memory', async () => {
    const taken = await take();
    await saveControl(createFolderStaging(folder), record.name, { state: 'paused', reason: '', at: '' });
    await redis.flushall();
    await expect(take({ kind: 'redis_wiped', epoch: taken.epoch })).rejects.toThrow(ControlError);
    expect(await redis.exists(leaseKey(record.id))).toBe(0);
  });

  const at = '2024-01-01T00:00:00.000Z';
  const cancel = () =>
    applyEvent(createFolderStaging(folder), record, { kind: 'cancel' }, { reason: 'enough', at });

  /** Calls `interlude` once, just before the next state is created. */
  const beforeControl = (interlude: () => Promise<unknown>): Staging => {
    const staging = createFolderStaging(folder);
    let isOver = false;
    return {
      ...staging,
      async create(key, body) {
        if (key.includes('/control/') && !isOver) {
          isOver = true;
          await interlude();
        }
        return staging.create(key, body);
      },
    };
  };

  it('yields to a cancel that comes just before it writes that the migration runs', async () => {
    const staging = beforeControl(cancel);
    const acquiring = acquireLease(record, OPENING, { kind: 'resume' }, { staging, redis, now });
    await expect(acquiring).rejects.toThrow(ControlError);
    expect(await loadControl(staging, record.name)).toMatchObject({ state: 'cancelled', reason: 'enough' });
    expect(await redis.hget(migrationKey(record.id), 'control')).toBe('cancelled');
    expect((await take({ kind: 'resume' })).epoch).toBe(2);
  });

  it('hears of a cancel that comes just after it wrote that the migration runs', async () => {
    const taken = await take();
    const entered = await cancel();
    if (entered.kind !== 'enter') throw new Error('it was not cancelled');
    await expect(taken.assertNotHeld()).rejects.toThrow(ControlError);
    await mirrorControl(redis, record.id, entered);
    await expect(taken.assertRunning()).rejects.toThrow(ControlError);
  });

  it('overrules what an older epoch writes before it writes that the migration runs', async () => {
    const first = await take();
    await first.release();
    const late = { state: 'paused', reason: 'the old key', at, epoch: 1 } as const;
    const staging = beforeControl(() => saveControl(createFolderStaging(folder), record.name, late));
    const taken = await acquireLease(record, OPENING, { kind: 'resume' }, { staging, redis, now });
    expect(await loadControl(staging, record.name)).toMatchObject({ state: 'running', epoch: taken.epoch });
    // The workers of the older one copy their state to Redis as late.
    await mirrorControl(redis, record.id, { state: 'paused', number: 2 });
    await taken.assertRunning();
  });

  it('takes a state whose response was lost for its own', async () => {
    const staging = createFolderStaging(folder);
    const create: Staging['create'] = async (key, body) =>
      (await staging.create(key, body)) && !key.includes('/control/');
    await acquireLease(record, OPENING, { kind: 'run' }, { staging: { ...staging, create }, redis, now });
    expect(await loadNewestControl(staging, record.name)).toMatchObject({ number: 1 });
  });

  it.each(['stop', 'finish', 'pause_by_worker'] as const)(
    'is not touched by a %s of an older epoch that slept between its question and its answer',
    async (kind) => {
      const first = await take();
      await first.release();
      let successor: Awaited<ReturnType<typeof take>> | undefined;
      const staging = beforeControl(async () => {
        successor = await take({ kind: 'resume' });
      });
      const late = applyEvent(staging, record, { kind, epoch: first.epoch }, { reason: 'late', at });
      await expect(late).rejects.toThrow(FencedOutError);
      expect(await loadControl(staging, record.name)).toMatchObject({ state: 'running', epoch: 2 });
      await successor?.assertRunning();
    },
  );

  it('is not touched by a state that is copied to Redis only after it was resumed', async () => {
    const first = await take();
    const stopped = await applyEvent(
      createFolderStaging(folder),
      record,
      { kind: 'stop', epoch: first.epoch },
      { reason: 'stopped', at },
    );
    if (stopped.kind !== 'enter') throw new Error('it did not stop');
    await first.release();
    await take({ kind: 'resume' });
    await mirrorControl(redis, record.id, stopped);
    expect(await redis.hget(migrationKey(record.id), 'control')).toBe('running');
  });

  it('leaves a cancel that comes while a producer notes that it stopped', async () => {
    const { epoch } = await take();
    const staging = beforeControl(cancel);
    const stop = { kind: 'stop', epoch } as const;
    const entered = await applyEvent(staging, record, stop, { reason: 'stopped', at });
    expect(entered).toEqual({ kind: 'stay' });
    expect(await loadControl(staging, record.name)).toMatchObject({ state: 'cancelled' });
  });

  it('continues from the state that version 0.1.0 left', async () => {
    const staging = createFolderStaging(folder);
    const old = { state: 'paused', reason: 'too early', at };
    await staging.put(layout(record.name).oldControl, encodeDocument(old));
    await expect(take()).rejects.toThrow('is paused (too early)');
    await take({ kind: 'resume' });
    expect(await loadNewestControl(staging, record.name)).toMatchObject({
      number: 1,
      control: { state: 'running' },
    });
  });

  it('is not acquired again by an epoch that is over, though Redis has forgotten the newer one', async () => {
    const first = await take();
    await first.release();
    await take();
    await redis.flushall();
    await expect(take({ kind: 'redis_wiped', epoch: first.epoch })).rejects.toThrow(FencedOutError);
    expect(await loadEpoch(createFolderStaging(folder), record.name, 3)).toBeUndefined();
  });
});
