import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import {
  ConfigError,
  FencedOutError,
  PausedError,
  UnableError,
  UnavailableError,
} from '../../src/lib/errors.ts';
import {
  createOpenMigrations,
  type Opened,
  type OpenMigrations,
} from '../../src/migrations/open-migrations.ts';
import { leaseKey, migrationKey } from '../../src/state/checkpoints.ts';
import { loadControl } from '../../src/state/control.ts';
import { openEpoch } from '../../src/state/epochs.ts';
import { clearStaging, createMigration, type MigrationRecord } from '../../src/state/migrations.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { saveControl } from '../support/save-control.ts';

const NOBODY = 65_534;

const mapNothing = () => {
  throw new Error('maps nothing');
};

let server: TestRedis;
let redis: Redis;
let folder: string;
let staging: Staging;
let migrations: OpenMigrations;
let opened: string[];
let closed: number;
let number = 0;
let name: string;
let record: MigrationRecord;

const never = new AbortController().signal;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  folder = await mkdtemp(join(tmpdir(), 'backhaul-open-'));
  staging = createFolderStaging(folder);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  number += 1;
  name = `m${number}`;
  opened = [];
  closed = 0;
  record = {
    id: name,
    name,
    identity: {},
    identitySha256: '',
    mapping: 'amplitude@1',
    destination: 'bundled API',
    files: [],
    createdAt: '2024-01-01T00:00:00.000Z',
    opening: { manifest: {}, baseDir: '/data' },
  };
  await createMigration(staging, record);
  await openEpoch(staging, name, 1, { openedAt: '', manifest: 'first', baseDir: '' });
  await openEpoch(staging, name, 2, { openedAt: '', manifest: 'second', baseDir: '' });
  await redis.hset(migrationKey(name), 'epoch', 2);
  migrations = createOpenMigrations({
    staging,
    redis,
    log: pino({ level: 'silent' }),
    now: () => new Date('2024-01-01T00:00:00Z'),
    async open(_, { manifest }) {
      opened.push(String(manifest));
      return {
        ...SETTINGS,
        async close() {
          closed += 1;
        },
      };
    },
  });
});

const SETTINGS: Omit<Opened, 'close'> = {
  settings: {
    batch: { events: 10, bytes: 1_000, eventBytes: 1_000 },
    requestsInFlight: 1,
    overwritePeople: false,
    groupIdentifyEvent: '$group_identify',
    ledger: { id: 'ledger', secret: '' },
  },
  maps: { vendor: mapNothing, record: mapNothing },
  deliver: async () => [],
  openSlice: () => {
    throw new Error('stages nothing');
  },
};

const of = (epoch: number) => ({ migration: name, id: name, epoch });

describe('the migrations that a worker has open', () => {
  it('are opened again where another migration has begun under the name', async () => {
    const use = (id: string) =>
      migrations.use({ migration: name, id, epoch: 2 }, never, async ({ record }) => ({ kind: record.id }));
    expect(await use(name)).toEqual({ kind: name });
    await clearStaging(staging, `_migrations/${name}.json`);
    await clearStaging(staging, `${name}/`);
    const other = `${name}-again`;
    await createMigration(staging, { ...record, id: other });
    await openEpoch(staging, name, 1, { openedAt: '', manifest: 'third', baseDir: '' });
    await openEpoch(staging, name, 2, { openedAt: '', manifest: 'fourth', baseDir: '' });
    await redis.hset(migrationKey(other), 'epoch', 2);
    expect(await use(other)).toEqual({ kind: other });
    expect(opened).toEqual(['second', 'fourth']);
    expect(closed).toBe(1);
  });

  it('are opened once an epoch, with that epoch’s manifest, however many jobs use them', async () => {
    const work = async () => ({ kind: 'done' as const });
    await redis.hset(migrationKey(name), 'epoch', 1);
    await Promise.all([migrations.use(of(1), never, work), migrations.use(of(1), never, work)]);
    await redis.hset(migrationKey(name), 'epoch', 2);
    await migrations.use(of(2), never, work);
    expect(opened).toEqual(['first', 'second']);
    expect(closed).toBe(1);
    await expect(migrations.use(of(1), never, work)).rejects.toThrow(FencedOutError);
  });

  it('are asked about again later where Redis cannot say which epoch is in force', async () => {
    await redis.set(migrationKey(name), 'of another kind');
    const work = () => migrations.use(of(2), never, async () => ({ kind: 'done' as const }));
    await expect(work()).rejects.toThrow(/^Redis did not say whether the migration still runs: WRONGTYPE/);
    await expect(work()).rejects.toThrow(UnavailableError);
    await redis.del(migrationKey(name));
    await redis.hset(migrationKey(name), 'epoch', 2);
    expect(await work()).toEqual({ kind: 'done' });
  });

  it.each(['stopped', 'paused', 'cancelled'])(
    'hand work back when the migration is %s meanwhile',
    async (state) => {
      const result = migrations.use(of(2), never, async (_, signal) => {
        await redis.hset(migrationKey(name), 'control', state);
        if (!signal.aborted) await once(signal, 'abort');
        throw signal.reason;
      });
      expect(await result).toEqual({ kind: 'handed_back', why: `the migration is ${state}` });
    },
  );

  it.each(['stopped', 'paused', 'cancelled'] as const)(
    'do not begin work of a migration that staging says is %s',
    async (state) => {
      await saveControl(staging, name, { state, reason: '', at: '' });
      const result = await migrations.use(of(2), never, async () => {
        throw new Error('began all the same');
      });
      expect(result).toEqual({ kind: 'handed_back', why: state });
    },
  );

  it('pause the migration, in staging too, when the destination needs the operator', async () => {
    const message = 'the key is refused; set BACKHAUL_PROJECT_API_KEY and resume';
    await migrations.use(of(2), never, async () => {
      throw new PausedError(message);
    });
    expect(await loadControl(staging, name)).toMatchObject({ state: 'paused', reason: message });
    expect(await redis.hget(migrationKey(name), 'control')).toBe('paused');
  });

  it('pause for whatever else an operator can correct, so that no part fails for good', async () => {
    const result = await migrations.use(of(2), never, async () => {
      throw new ConfigError('the disk is full; make room and resume');
    });
    expect(result).toMatchObject({ kind: 'handed_back' });
    expect(await loadControl(staging, name)).toMatchObject({ state: 'paused' });
  });

  it('let a late answer to an older epoch pause nothing', async () => {
    await migrations.use(of(2), never, async () => {
      await redis.hset(migrationKey(name), 'epoch', 3);
      throw new PausedError('the old key is refused');
    });
    expect(await loadControl(staging, name)).toBeUndefined();
  });

  it('do not begin work of an epoch that is over, whatever this process has seen', async () => {
    await redis.hset(migrationKey(name), 'epoch', 3);
    const work = async () => ({ kind: 'done' as const });
    await expect(migrations.use(of(2), never, work)).rejects.toThrow(FencedOutError);
  });

  it('leave an abort of the job itself to the worker, who hands the job back to the queue', async () => {
    const shutdown = new AbortController();
    const result = migrations.use(of(2), shutdown.signal, async (_, signal) => {
      shutdown.abort(new Error('shutdown'));
      throw signal.reason;
    });
    await expect(result).rejects.toThrow('shutdown');
  });

  it.each([
    ['a key that is missing here', new ConfigError('KEY is not set'), true],
    ['an outage', new UnavailableError('staging is away'), false],
    ['a fault that nobody foresaw', new Error('connect ECONNREFUSED'), false],
  ])('tell that others may be able from %s', async (_, cause, isUnable) => {
    const failing = createOpenMigrations({
      staging,
      redis,
      log: pino({ level: 'silent' }),
      now: () => new Date('2024-01-01T00:00:00Z'),
      open: () => Promise.reject(cause),
    });
    const error = await failing.use(of(2), never, async () => ({})).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error instanceof UnableError).toBe(isUnable);
  });

  it('leave jobs to others where this user may not write to staging, before any work', async () => {
    const isRoot = process.geteuid?.() === 0;
    const tmp = join(folder, '.tmp');
    await chmod(folder, 0o755);
    await chmod(tmp, isRoot ? 0o755 : 0o555);
    const work = vi.fn(async () => ({ kind: 'done' as const }));
    if (isRoot) process.seteuid?.(NOBODY); // nothing keeps root out
    try {
      const error = await migrations.use(of(2), never, work).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnableError);
      expect(String(error)).toMatch(/is not accessible \(could not write there: EACCES/);
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(tmp, 0o755);
    }
    expect(work).not.toHaveBeenCalled();
    expect((await loadControl(staging, name))?.state).toBeUndefined();
    await migrations.use(of(2), never, work);
    expect(work).toHaveBeenCalledOnce();
  });

  it('leave the jobs of another migration of the name, in another staging, to others', async () => {
    await redis.hset(migrationKey('foreign'), 'epoch', 2);
    await redis.set(leaseKey('foreign'), 'its producer');
    const work = vi.fn(async () => ({ kind: 'done' as const }));
    const error = await migrations
      .use({ ...of(2), id: 'foreign' }, never, work)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnableError);
    expect(String(error)).toMatch(/holds another migration ".+" than that of the job.*same staging/);
    expect(work).not.toHaveBeenCalled();
    // Nobody has one that was removed here, or whose epoch is over.
    for (const epoch of [3, 0]) {
      if (epoch > 0) await redis.hset(migrationKey('foreign'), 'epoch', epoch);
      else await redis.del(migrationKey('foreign'));
      await expect(migrations.use({ ...of(2), id: 'foreign' }, never, work)).rejects.toThrow(FencedOutError);
    }
  });

  it.each([
    ['and its name was begun again', () => name],
    ['for good', () => 'forgotten'],
  ])('drop the jobs of one that was removed while Redis was away, %s', async (_, getName) => {
    // What Redis knew of it is there still, but for its lease, which expired.
    await redis.hset(migrationKey('removed'), 'epoch', 2);
    const work = vi.fn(async () => ({ kind: 'done' as const }));
    const job = { migration: getName(), id: 'removed', epoch: 2 };
    await expect(migrations.use(job, never, work)).rejects.toThrow(FencedOutError);
    expect(work).not.toHaveBeenCalled();
    expect(await migrations.use(of(2), never, work)).toEqual({ kind: 'done' });
  });

  it('say what to look at when staging does not know them', async () => {
    await redis.hset(migrationKey('unknown'), 'epoch', 1);
    await redis.set(leaseKey('unknown'), 'its producer');
    const result = migrations.use({ migration: 'unknown', id: 'unknown', epoch: 1 }, never, async () => ({
      kind: 'done' as const,
    }));
    await expect(result).rejects.toThrow(UnavailableError);
    await expect(
      migrations.use({ migration: 'unknown', id: 'unknown', epoch: 1 }, never, async () => ({})),
    ).rejects.toThrow('same staging');
  });
});
