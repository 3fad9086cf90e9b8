import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvePersonsHandler } from '../../jobs/resolve-persons.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { resolvedRange } from '../../src/identity/resolve-buckets.ts';
import { createOpenMigrations } from '../../src/migrations/open-migrations.ts';
import { emptyTally } from '../../src/pipeline/tally.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import { migrationKey } from '../../src/state/checkpoints.ts';
import { parseDocument } from '../../src/state/document.ts';
import { readFacts, saveFacts } from '../../src/state/facts.ts';
import { layout } from '../../src/state/keys.ts';
import { createMigration, openEpoch } from '../../src/state/migrations.ts';
import { createReceipt } from '../../src/state/receipts.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

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
      },
      map: () => {
        throw new Error('maps nothing');
      },
      deliver: async () => [],
      openSlice: () => {
        throw new Error('stages nothing');
      },
      close: async () => {},
    }),
  });
  const run = { signal, progress: () => {}, log: pino({ level: 'silent' }) };
  const payload = { migration: NAME, epoch: 1, from: 0, to: BUCKETS };
  await resolvePersonsHandler({ staging: store, migrations })(payload, run);
  await migrations.close();
}

const keysBelow = async (prefix: string) => {
  const found: string[] = [];
  for await (const { key } of staging.list(prefix)) found.push(key);
  return found;
};

test('a writer that comes back late touches no object that the receipt of its range names (I5)', async () => {
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
  const findings = await saveFacts(staging, keys.findings('f1/00000/1-1-1'), fold.stored());
  const receipt = { part: 'f1/00000', file: 'a', mapping: 'amplitude@1', tally: emptyTally() };
  await createReceipt(staging, NAME, { ...receipt, rejectSegments: [], findings });

  await resolveAll(staging);
  const [index = ''] = await keysBelow(keys.resolved);
  const named = (await staging.get(index)) ?? Buffer.alloc(0);
  const { findings: resolved } = parseDocument(resolvedRange, named, index, staging);
  const before = await keysBelow(keys.resolvedFacts);
  expect(before).toEqual(resolved.map(({ key }) => key));

  // One whose gzip makes other lengths: bytes at the offsets of the index would be someone else's.
  const put: Staging['put'] = (key, bytes) => staging.put(key, Buffer.concat([Buffer.from('?'), bytes]));
  await resolveAll({ ...staging, put });

  expect(await staging.get(index)).toEqual(named);
  expect((await keysBelow(keys.resolvedFacts)).length).toBe(2 * before.length);
  for (const { key, sections: of } of resolved) {
    for (const { offset, length } of of) {
      expect(await readFacts(staging, { key, offset, length })).toEqual([
        expect.objectContaining({ kind: 'merge', userId: 'u1', anonId: 'd1' }),
      ]);
    }
  }
});
