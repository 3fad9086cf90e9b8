import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_PREFIX, stageQueue } from '../../jobs/catalog.ts';
import { migrationRecord } from '../../src/state/migrations.ts';
import { createS3Bucket } from '../../src/state/staging/s3-bucket.ts';
import { killAllBackhaul, parseReport, startBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

/** Slices on shared storage are staged by the whole fleet, files of a disk by the process that has them. */
const TIMEOUT_MS = 180_000;
const FILES = 8;
const RECORDS = 200;
const KEY = 'phc_shared';
const BUCKET = 'backhaul-shared';

const s3 = ALL ? await startRadosgw() : undefined;
await s3?.createBucket(BUCKET);
afterAll(() => s3?.stop());

/** Lines of an Amplitude export, each event another one. */
const writeEvents = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const event = { event_type: 'Opened', event_time: '2023-03-14 09:26:53', uuid: randomUUID() };
    return `${JSON.stringify({ ...event, user_id: `u-${index % 40}` })}\n`;
  }).join('');

describe.skipIf(!s3)('with a source on S3', () => {
  const s3Options = {
    endpoint: s3?.endpoint ?? '',
    accessKeyId: s3?.accessKeyId ?? '',
    secretAccessKey: s3?.secretAccessKey ?? '',
  };
  const bucket = createS3Bucket({ ...s3Options, bucket: BUCKET });
  let workplace: Workplace;
  let redis: TestRedis;
  let destination: Awaited<ReturnType<typeof startStrictDestination>>;
  let env: Record<string, string>;

  beforeAll(async () => {
    workplace = createWorkplace();
    redis = await startRedis();
    destination = await startStrictDestination({ apiKey: KEY });
    env = {
      REDIS_URL: redis.url,
      BACKHAUL_PROJECT_API_KEY: KEY,
      BACKHAUL_STAGING: `s3://${BUCKET}/staging-${randomUUID()}`,
      BACKHAUL_S3_ENDPOINT: s3Options.endpoint,
      BACKHAUL_S3_ACCESS_KEY_ID: s3Options.accessKeyId,
      BACKHAUL_S3_SECRET_ACCESS_KEY: s3Options.secretAccessKey,
    };
    await mkdir(join(workplace.folder, 'exports'));
    for (let file = 1; file <= FILES; file += 1) {
      const packed = gzipSync(writeEvents(RECORDS));
      await writeFile(join(workplace.folder, `exports/${file}.json.gz`), packed);
      await bucket.put(`raw/${file}.json.gz`, packed);
    }
  }, TIMEOUT_MS);
  afterEach(killAllBackhaul);
  afterAll(async () => {
    await workplace.remove();
    await destination.stop();
    await redis.stop();
  });

  const writeManifest = (name: string, from: string) =>
    workplace.manifest({
      name,
      source: { type: 'amplitude', from },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
    });

  /** A worker as on another machine: a data folder of its own, and nothing of the producer's disk. */
  async function startWorker(name: string) {
    const worker = startBackhaul(['worker'], { dataDir: workplace.dataDir(name), env });
    await until(
      'a worker that takes jobs',
      () => worker.stderr().includes('imports up to') || undefined,
      60_000,
    );
    return worker;
  }

  /**
   * Looks at the jobs of a migration until `stop`, which returns how many there were and who took them: Redis
   * forgets them when the migration finishes.
   */
  function watchJobs(queueName: string, migration: string) {
    const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
    const queue = new Queue(queueName, { connection, prefix: QUEUE_PREFIX });
    const takers = new Map<string | undefined, number | undefined>();
    let isWatching = true;
    const watching = (async () => {
      while (isWatching) {
        for (const job of await queue.getJobs()) {
          // A job that was removed while the others were read is undefined.
          if ((job?.data as { migration?: string } | undefined)?.migration !== migration) continue;
          const pid = job.processedBy?.split(':').at(-1);
          takers.set(job.id, pid === undefined ? takers.get(job.id) : Number(pid));
        }
      }
    })();
    return async function stop() {
      isWatching = false;
      await watching;
      await queue.close();
      connection.disconnect();
      return { count: takers.size, pids: new Set(takers.values()) };
    };
  }

  it(
    'the producer and another machine stage it together, and every record is counted once',
    async () => {
      const worker = await startWorker('other-machine');
      const manifest = writeManifest('shared', `s3://${BUCKET}/raw/`);
      const run = startBackhaul(['run', '--json', '--produce-only', manifest], {
        dataDir: workplace.dataDir('producer'),
        env,
      });
      const [staging, importing] = [watchJobs('stage-slice', 'shared'), watchJobs('import-part', 'shared')];
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(0);
      const report = parseReport(ended);
      expect(report.balanced).toBe(true);
      expect(report.counts).toMatchObject({ read: FILES * RECORDS, delivered: FILES * RECORDS });

      expect(await staging()).toEqual({ count: FILES, pids: new Set([run.pid, worker.pid]) });
      // Importing is the worker's alone: the producer only produces.
      expect((await importing()).pids).toEqual(new Set([worker.pid]));
    },
    TIMEOUT_MS,
  );

  it(
    'a file of the producer’s own disk is staged by the producer alone, and lies on no shared queue',
    async () => {
      const worker = await startWorker('elsewhere');
      const manifest = writeManifest('local', 'exports/*.json.gz');
      const run = startBackhaul(['run', '--json', '--produce-only', manifest], {
        dataDir: workplace.dataDir('producer-local'),
        env,
      });
      const prefix = env['BACKHAUL_STAGING']?.slice(`s3://${BUCKET}/`.length);
      const { id, files } = await until('the record of the migration', async () => {
        const stored = await bucket.get(`${prefix}/_migrations/local.json`);
        return stored && migrationRecord.parse(JSON.parse(String(stored)));
      });
      const [own, shared] = [watchJobs(stageQueue(id), 'local'), watchJobs('stage-slice', 'local')];
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(0);
      expect(worker.isRunning()).toBe(true);
      expect(files).toHaveLength(FILES);
      expect(Object.keys(files[0] ?? {}).toSorted()).toEqual(['bytes', 'fileId', 'modified', 'name']);
      expect(await own()).toEqual({ count: FILES, pids: new Set([run.pid]) });
      expect((await shared()).count).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    'small objects are one slice, staged by whoever takes it, and each is counted',
    async () => {
      const small = 40;
      for (let file = 1; file <= small; file += 1)
        await bucket.put(`small/${file}.json.gz`, gzipSync(writeEvents(5)));
      const worker = await startWorker('for-small');
      const before = destination.requests.length;
      const run = startBackhaul(
        ['run', '--json', '--produce-only', writeManifest('small', `s3://${BUCKET}/small/`)],
        { dataDir: workplace.dataDir('producer-small'), env },
      );
      const [staging, importing] = [watchJobs('stage-slice', 'small'), watchJobs('import-part', 'small')];
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(0);
      expect(worker.isRunning()).toBe(true);
      const report = parseReport(ended);
      expect(report).toMatchObject({ balanced: true, counts: { read: small * 5, delivered: small * 5 } });
      expect(report.byFile.map(({ counts }) => counts.delivered)).toEqual(Array(small).fill(5));
      expect((await staging()).count).toBe(1);
      expect((await importing()).count).toBe(1);
      expect(destination.requests.length - before).toBe(1);
    },
    TIMEOUT_MS,
  );

  it(
    'a slice that is broken fails by name, after what precedes the fault was imported',
    async () => {
      await bucket.put('broken/cut.json.gz', gzipSync(writeEvents(500)).subarray(0, -2_000));
      const run = startBackhaul(['run', '--json', writeManifest('broken', `s3://${BUCKET}/broken/`)], {
        dataDir: workplace.dataDir('broken'),
        env,
      });
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(1);
      const report = parseReport(ended);
      expect(report.unfinished.failures).toMatchObject([
        { what: expect.stringContaining('stage-slice'), reason: expect.stringContaining('cut.json.gz') },
      ]);
      expect(report.counts.read).toBeGreaterThan(100);
      expect(report.counts.read).toBeLessThan(500);
      expect(report.counts.delivered).toBe(report.counts.read);
    },
    TIMEOUT_MS,
  );

  it(
    'broken objects of a group are staged once they are repaired, however many they are',
    async () => {
      const objects = Array.from({ length: 280 }, (_, file) => ({
        key: `repaired/${file}.json.gz`,
        body: gzipSync(writeEvents(5)),
      }));
      await Promise.all(objects.map(({ key, body }) => bucket.put(key, body.subarray(0, -20))));
      const at = { dataDir: workplace.dataDir('repaired'), env };
      const manifest = writeManifest('repaired', `s3://${BUCKET}/repaired/`);
      const broken = await startBackhaul(['run', '--json', manifest], at).ended;
      expect(broken.code, broken.stderr).toBe(1);
      await Promise.all(objects.map(({ key, body }) => bucket.put(key, body)));
      const resumed = await startBackhaul(['resume', '--json', 'repaired'], at).ended;
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(parseReport(resumed)).toMatchObject({ balanced: true, counts: { delivered: 280 * 5 } });
    },
    TIMEOUT_MS,
  );
});
