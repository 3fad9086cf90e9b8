import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PartMeta } from '../../src/contract/part.ts';
import type { Checkpoint } from '../../src/contract/progress.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { FencedOutError } from '../../src/lib/errors.ts';
import { emptyTally } from '../../src/pipeline/tally.ts';
import { type Checkpoints, createRedisCheckpoints, migrationKey } from '../../src/state/checkpoints.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { createStagedCheckpoints } from '../../src/state/staged-checkpoints.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

let server: TestRedis;
let redis: Redis;
let folder: string;
let staging: Staging;
let nowMs: number;
let epoch: number;
let number = 0;
let record: { id: string; name: string; mapping: string };

const part: PartMeta = {
  id: 'abc/00000',
  fileId: 'abc',
  file: 'export.json',
  number: 0,
  format: { kind: 'json' },
  records: 10_000,
  bytes: 0,
  sha256: 'of the part',
  etag: '',
  firstRecord: 0,
};
const at = (position: number): Checkpoint => ({
  part: part.id,
  partSha256: part.sha256,
  position,
  tally: emptyTally(),
  rejectSegments: [],
});

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  folder = await mkdtemp(join(tmpdir(), 'backhaul-checkpoints-'));
  staging = createFolderStaging(folder);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  number += 1;
  record = { id: `id-${number}`, name: `m${number}`, mapping: 'amplitude@2' };
  nowMs = 0;
  epoch = 0;
  await openEpoch();
});

async function openEpoch(): Promise<void> {
  epoch += 1;
  await redis.hset(migrationKey(record.id), 'epoch', epoch);
}

async function wipeRedis(): Promise<void> {
  await redis.flushall();
  await openEpoch();
}

/** A worker of the epoch in force. */
const createWorker = (others: Partial<typeof record> = {}, ofPart: PartMeta = part): Checkpoints =>
  createStagedCheckpoints(createRedisCheckpoints(redis, record.id, epoch), {
    staging,
    record: { ...record, ...others },
    part: ofPart,
    nowMs: () => nowMs,
  });

/** Takes the part over and saves a checkpoint that is due to be copied. */
async function saveCopied(position: number) {
  const worker = createWorker();
  const { fence } = await worker.begin(part.id);
  nowMs += 5_000;
  await worker.save(fence, at(position));
  return { worker, fence };
}

async function listCopies(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of staging.list(layout(record.name).checkpointsOf(part.id))) keys.push(key);
  return keys.map((key) => key.slice(key.lastIndexOf('/') + 1));
}

describe('checkpoints that are copied to staging', () => {
  it('are copied at most every 5 s, counted from when the part was taken over', async () => {
    const worker = createWorker();
    const { fence } = await worker.begin(part.id);
    nowMs = 4_999;
    await worker.save(fence, at(100));
    expect(await listCopies()).toEqual([]);
    nowMs = 5_000;
    await worker.save(fence, at(200));
    nowMs = 9_999;
    await worker.save(fence, at(300));
    expect(await listCopies()).toEqual(['1-1.json']);
    await wipeRedis();
    expect((await createWorker().begin(part.id)).checkpoint).toEqual(at(200));
  });

  it('are taken when Redis has lost its own, time after time', async () => {
    for (const position of [1_000, 2_000, 3_000, 4_000]) {
      await saveCopied(position);
      await wipeRedis();
      expect((await createWorker().begin(part.id)).checkpoint).toEqual(at(position));
    }
  });

  it('are not looked at while Redis has one', async () => {
    const { worker, fence } = await saveCopied(1_000);
    await worker.save(fence, at(1_500));
    expect((await createWorker().begin(part.id)).checkpoint).toEqual(at(1_500));
  });

  it('are removed with the checkpoint once the part has its receipt, those of every holder', async () => {
    await saveCopied(1_000);
    await wipeRedis();
    const { worker, fence } = await saveCopied(2_000);
    expect(await listCopies()).toEqual(['1-1.json', '2-1.json']);
    await worker.forget(fence);
    expect(await listCopies()).toEqual([]);
  });

  it('cost the first holder of a part no call of staging before 5 s are over', async () => {
    const { begin, save, forget } = createStagedCheckpoints(createRedisCheckpoints(redis, record.id, epoch), {
      staging: new Proxy(staging, {
        get: (_, method) => {
          throw new Error(`staging was asked to ${String(method)}`);
        },
      }),
      record,
      part,
      nowMs: () => nowMs,
    });
    const { fence } = await begin(part.id);
    await save(fence, at(1_000));
    await forget(fence);
  });

  describe('are not believed', () => {
    it('of a zombie that copies late: the highest epoch and counter count, not the position (I5)', async () => {
      const zombie = createWorker();
      const { fence } = await zombie.begin(part.id);
      await saveCopied(1_000);
      nowMs += 5_000;
      // It lost the part: Redis refuses it, and nothing is copied.
      await expect(zombie.save(fence, at(9_000))).rejects.toThrow(FencedOutError);
      expect(await listCopies()).toEqual(['1-2.json']);

      // It was stopped between Redis, which still accepted it, and staging.
      const late = createStagedCheckpoints(
        { ...createRedisCheckpoints(redis, record.id, epoch), save: async () => {} },
        { staging, record, part, nowMs: () => nowMs },
      );
      nowMs += 5_000;
      await late.save(fence, at(9_000));
      expect(await listCopies()).toEqual(['1-1.json', '1-2.json']);
      await wipeRedis();
      expect((await createWorker().begin(part.id)).checkpoint).toEqual(at(1_000));

      // An older epoch with a higher counter than the one after the wipe.
      await saveCopied(2_000);
      await wipeRedis();
      expect((await createWorker().begin(part.id)).checkpoint).toEqual(at(2_000));
    });

    it('of a holder that comes after oneself', async () => {
      await saveCopied(1_000);
      await wipeRedis();
      const zombie = { epoch, worker: createWorker() };
      await openEpoch();
      await saveCopied(2_000);
      await redis.flushall();
      await redis.hset(migrationKey(record.id), 'epoch', zombie.epoch);
      expect((await zombie.worker.begin(part.id)).checkpoint).toEqual(at(1_000));
    });

    it('of another mapping, another migration of the name, or another cut of the source', async () => {
      await saveCopied(1_000);
      await wipeRedis();
      expect((await createWorker({ mapping: 'amplitude@1' }).begin(part.id)).checkpoint).toBeUndefined();
      expect((await createWorker({ id: 'another' }).begin(part.id)).checkpoint).toBeUndefined();
      const cutAnew = { ...part, sha256: 'of other records' };
      expect((await createWorker({}, cutAnew).begin(part.id)).checkpoint).toBeUndefined();
      expect((await createWorker().begin(part.id)).checkpoint).toEqual(at(1_000));
    });

    it('of Redis, where they are of another cut of the source, or do not say of which', async () => {
      const worker = createWorker();
      const { fence } = await worker.begin(part.id);
      await worker.save(fence, at(1_000));
      const cutAnew = { ...part, sha256: 'of other records' };
      expect((await createWorker({}, cutAnew).begin(part.id)).checkpoint).toBeUndefined();
      const again = createWorker();
      const { fence: renewed, checkpoint } = await again.begin(part.id);
      expect(checkpoint).toEqual(at(1_000));
      const { partSha256: _, ...undigested } = at(2_000);
      await again.save(renewed, undigested);
      expect((await createWorker().begin(part.id)).checkpoint).toBeUndefined();
    });

    it('where they are damaged: the one before is taken, or none', async () => {
      await saveCopied(1_000);
      await wipeRedis();
      const { fence } = await saveCopied(2_000);
      const { checkpoint } = layout(record.name);
      await staging.put(checkpoint(fence), Buffer.from('{"part"'));
      await wipeRedis();
      expect((await createWorker().begin(part.id)).checkpoint).toEqual(at(1_000));
      await staging.put(checkpoint({ part: part.id, epoch: 1, counter: 1 }), Buffer.from('{}'));
      expect((await createWorker().begin(part.id)).checkpoint).toBeUndefined();
    });
  });
});
