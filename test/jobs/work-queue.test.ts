import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { QUEUE_PREFIX } from '../../jobs/catalog.ts';
import { createWorkQueue } from '../../jobs/work-queue.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

const log = pino({ level: 'silent' });
const QUEUES = {
  'stage-file': 'stage-file-test',
  'stage-slice': 'stage-slice',
  'import-part': 'import-part',
  'resolve-people': 'resolve-people',
  'merge-people': 'merge-people',
  'fold-people': 'fold-people',
};

let server: TestRedis;
let redis: Redis;
let queue: Awaited<ReturnType<typeof createWorkQueue>>;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.port, '127.0.0.1');
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await redis.flushall();
  queue = await createWorkQueue(server.url, QUEUES, log);
});
afterEach(() => queue.close());

/** The longest name of an object on S3, in bytes. */
const LONGEST_KEY = 1024;
/** The most files of a group: GROUP_MAX_FILES in src/pipeline/stage/slice-groups.ts. */
const MOST_FILES = 1_000;

describe('the queue of a producer', () => {
  it('takes a group of which every file was repaired, however long their names are', async () => {
    const member = (number: number) => ({
      fileId: String(number).padStart(12, '0'),
      bytes: 1024 * 1024,
      modified: `"${'f'.repeat(32)}-10000"`, // of an object of many parts
    });
    const changed = Array.from({ length: MOST_FILES }, (_, number) => member(number));
    const slice = { ...member(0), name: `s3://a-bucket/${'k'.repeat(LONGEST_KEY)}`, location: 'shared' };
    const payload = { migration: 'm', id: 'm', epoch: 1, packing: 'brotli', slice, changed };
    await queue.add([{ id: 'g', jobId: 'group', name: 'stage-slice', payload, delayMs: 0, rank: 1 }]);
    expect(await queue.state('stage-slice', 'group')).toEqual({ kind: 'open' });
  });

  it('knows why it gives out no jobs, as the buttons of the queue dashboard may have told it', async () => {
    const dashboard = new Queue('import-part', { connection: { url: server.url }, prefix: QUEUE_PREFIX });
    try {
      expect(await queue.findHold('import-part')).toBeUndefined();
      await dashboard.pause();
      expect(await queue.findHold('import-part')).toMatch(
        /^the queue import-part, which is paused: resume it/,
      );
      expect(await queue.findHold('stage-slice')).toBeUndefined();
      await dashboard.resume();
      await dashboard.setGlobalConcurrency(0);
      expect(await queue.findHold('import-part')).toMatch(/whose concurrency is set to 0: raise it/);
      await dashboard.setGlobalConcurrency(1);
      expect(await queue.findHold('import-part')).toBeUndefined();
    } finally {
      await dashboard.close();
    }
  });
});
