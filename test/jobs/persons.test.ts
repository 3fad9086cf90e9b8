import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personsHandler } from '../../jobs/persons.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { resolvedRange } from '../../src/identity/resolve-buckets.ts';
import { createOpenMigrations } from '../../src/migrations/open-migrations.ts';
import { ledgerLockKey } from '../../src/migrations/persons/lock/ledger-lock.ts';
import { saveTurnPlan } from '../../src/migrations/persons/turn.ts';
import { emptyTally } from '../../src/pipeline/tally.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import { migrationKey } from '../../src/state/checkpoints.ts';
import { parseDocument } from '../../src/state/document.ts';
import { openEpoch } from '../../src/state/epochs.ts';
import { saveFacts } from '../../src/state/facts/fact-object.ts';
import { readMerges } from '../../src/state/facts/resolved-facts.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { createMigration } from '../../src/state/migrations.ts';
import { createReceipt } from '../../src/state/receipts.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const mapNothing = () => {
  throw new Error('maps nothing');
};

const NAME = 'shop';
const keys = layout(NAME);
const { signal } = new AbortController();
let server: TestRedis;
let redis: Redis;
let folder: string;
let staging: Staging;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  folder = await mkdtemp(join(tmpdir(), 'backhaul-resolve-'));
  staging = createFolderStaging(folder);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const ACCESS = { id: 'ledger', secret: '' };
const TURN = 1;

/** A worker of its own, which writes through `store`. */
async function resolveAll(store: Staging): Promise<void> {
  const migrations = createOpenMigrations({
    staging: store,
    redis,
    log: pino({ level: 'silent' }),
    now: () => new Date('2024-01-01T00:00:00Z'),
    open: async () => ({
      settings: {
        batch: { events: 10, bytes: 65_536, eventBytes: 65_536 },
        requestsInFlight: 1,
        overwritePeople: false,
        groupIdentifyEvent: '$group_identify',
        ledger: ACCESS,
      },
      maps: { vendor: mapNothing, record: mapNothing },
      deliver: async () => [],
      openSlice: () => {
        throw new Error('stages nothing');
      },
      close: async () => {},
    }),
  });
  const run = { signal, progress: () => {}, log: pino({ level: 'silent' }) };
  const payload = { migration: NAME, id: NAME, epoch: 1, turn: TURN, from: 0, to: BUCKETS };
  await personsHandler('resolve-people', { staging: store, redis, migrations })(payload, run).finally(() =>
    migrations.close(),
  );
}

const keysBelow = async (prefix: string) => {
  const found: string[] = [];
  for await (const { key } of staging.list(prefix)) found.push(key);
  return found;
};

async function createMigrationAtTurn(): Promise<void> {
  await createMigration(staging, {
    id: NAME,
    name: NAME,
    identity: {},
    identitySha256: '',
    mapping: 'amplitude@1',
    destination: 'bundled API',
    files: [],
    createdAt: '2024-01-01T00:00:00.000Z',
    opening: { manifest: {}, baseDir: '/data' },
  });
  await openEpoch(staging, NAME, 1, { openedAt: '', manifest: {}, baseDir: '' });
  await redis.hset(migrationKey(NAME), 'epoch', 1);
  const fold = new FactFold();
  fold.add({ kind: 'pair', anonId: 'd1', userId: 'u1', time: '2023-01-01T00:00:00.000Z' });
  const findings = await saveFacts(staging, keys.findings('f1/00000/1-1-1'), fold);
  const receipt = { part: 'f1/00000', file: 'a', mapping: 'amplitude@1', tally: emptyTally() };
  await createReceipt(staging, NAME, { ...receipt, rejectSegments: [], findings });
  const plan = { ledger: ACCESS.id, purpose: 'send' as const, of: [NAME], facts: '', ranges: 1 };
  await saveTurnPlan(staging, NAME, TURN, plan);
}

const HOLDER = { token: 'token', host: 'elsewhere', pid: 1 };
const lockAs = (migration: string) =>
  redis.set(ledgerLockKey(ACCESS.id), JSON.stringify({ ...HOLDER, migration, name: migration }));

test('a writer that comes back late touches no object that the receipt of its range names (I5)', async () => {
  await createMigrationAtTurn();
  await lockAs('another');
  await expect(resolveAll(staging)).rejects.toThrow('the migration does not have the lock of its ledger');

  await lockAs(NAME);
  await resolveAll(staging);
  const at = keys.atTurn(TURN);
  const [index = ''] = await keysBelow(at.resolved);
  const named = (await staging.get(index)) ?? Buffer.alloc(0);
  const { merges } = parseDocument(resolvedRange, named, index, staging);
  const folder = `${at.prefix}facts/`;
  const before = await keysBelow(folder);
  expect(before).toEqual(merges.map(({ key }) => key));

  // One whose gzip makes other lengths: bytes at the offsets of the index would be someone else's.
  const put: Staging['put'] = (key, bytes) => staging.put(key, Buffer.concat([Buffer.from('?'), bytes]));
  await resolveAll({ ...staging, put });

  expect(await staging.get(index)).toEqual(named);
  expect((await keysBelow(folder)).length).toBe(2 * before.length);
  for (const one of merges) {
    const read = [];
    for (const merge of await readMerges(staging, one)) read.push(merge);
    expect(read).toEqual([['u1', 'd1', '2023-01-01T00:00:00.000Z']]);
  }
});
