import { createHash, randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_PREFIX } from '../../jobs/catalog.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { createS3Staging } from '../../src/state/staging/s3.ts';
import { killAllBackhaul, parseReport, runBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts';
import { compareSets, type EventSet, eventsAt, SAME } from '../support/event-set.ts';
import { ALL } from '../support/form.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace, writeExports } from '../support/workplace.ts';

/**
 * Two workers, and a network that is split between one of them and Redis, the destination, staging, or all of them:
 * nobody is told, and what was under way arrives when the network is whole again. A worker that loses Redis loses
 * its parts to the other one, which finishes the migration; one that has Redis keeps them, and continues.
 */
const s3 = ALL ? await startRadosgw() : undefined;
const BUCKET = 'backhaul-partition';
await s3?.createBucket(BUCKET);
afterAll(() => s3?.stop());

const KEY = 'phc_partition';
const FILES = 6;
const TIMEOUT_MS = 300_000;
/** Each request takes long until the network is split: a part is under way then. */
const SLOW_MS = 1_000;

type Place = 'redis' | 'destination' | 'staging';
const CASES: readonly { name: string; from: readonly Place[]; losesParts: boolean }[] = [
  { name: 'redis', from: ['redis'], losesParts: true },
  { name: 'everything', from: ['redis', 'destination', 'staging'], losesParts: true },
  { name: 'destination', from: ['destination'], losesParts: false },
  { name: 'staging', from: ['staging'], losesParts: false },
];

describe.skipIf(!s3)('a worker that is cut off in the middle of a part', () => {
  let workplace: Workplace;
  let expected: EventSet;
  beforeAll(async () => {
    workplace = createWorkplace();
    await writeExports(workplace, { files: FILES, records: 1_000 });
    const destination = await startStrictDestination({ apiKey: KEY });
    const options = { dataDir: workplace.dataDir('reference'), env: { BACKHAUL_PROJECT_API_KEY: KEY } };
    const ended = await runBackhaul(['run', '--json', writeManifest('reference', destination.url)], options);
    expect(ended.code, ended.stderr).toBe(0);
    expected = eventsAt(destination);
    await destination.stop();
  }, TIMEOUT_MS);
  afterEach(killAllBackhaul);
  afterAll(() => workplace?.remove());

  const writeManifest = (name: string, url: string) =>
    workplace.manifest({
      name,
      source: { type: 'amplitude', from: 'exports/*.zip' },
      destination: { url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      approval: { reference: 'a test', eventsPerMinute: 1_000_000 },
      rejects: { failAbove: '5%' },
      limits: { eventsPerMinute: 1_000_000, requestsInFlight: 2, batch: { events: 100 } },
    });

  async function openWorld(name: string, onEnd: (stop: () => Promise<unknown>) => void) {
    const redis = await startRedis();
    onEnd(() => redis.stop());
    const destination = await startStrictDestination({ apiKey: KEY, latencyMs: SLOW_MS });
    onEnd(() => destination.stop());
    const proxyTo = async (url: string): Promise<CuttingProxy> => {
      const { hostname, port } = new URL(url);
      const proxy = await startCuttingProxy({ host: hostname, port: Number(port) });
      onEnd(() => proxy.stop());
      return proxy;
    };
    const proxies: Readonly<Record<Place, CuttingProxy>> = {
      redis: await proxyTo(redis.url),
      destination: await proxyTo(destination.url),
      staging: await proxyTo(s3?.endpoint ?? ''),
    };
    const prefix = randomUUID();
    const keys = { accessKeyId: s3?.accessKeyId ?? '', secretAccessKey: s3?.secretAccessKey ?? '' };
    const env = {
      REDIS_URL: `redis://127.0.0.1:${proxies.redis.port}`,
      BACKHAUL_PROJECT_API_KEY: KEY,
      BACKHAUL_STAGING: `s3://${BUCKET}/${prefix}`,
      BACKHAUL_S3_ENDPOINT: `http://127.0.0.1:${proxies.staging.port}`,
      BACKHAUL_S3_ACCESS_KEY_ID: keys.accessKeyId,
      BACKHAUL_S3_SECRET_ACCESS_KEY: keys.secretAccessKey,
    };
    const staging = createS3Staging({ bucket: BUCKET, prefix, endpoint: s3?.endpoint ?? '', ...keys });
    const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
    const queue = new Queue('import-part', { connection, prefix: QUEUE_PREFIX });
    onEnd(async () => {
      await queue.close();
      connection.disconnect();
    });
    const url = `http://127.0.0.1:${proxies.destination.port}`;
    return {
      destination,
      proxies,
      staging,
      redis: connection,
      queue,
      start: (machine: string, ...args: string[]) =>
        startBackhaul(args, { dataDir: workplace.dataDir(`${name}-${machine}`), env }),
      manifest: (migration: string) => writeManifest(migration, url),
    };
  }

  it.each(CASES)(
    'from $name does no harm, then or when it is back',
    async ({ name, from, losesParts }) => {
      const ends: (() => Promise<unknown>)[] = [];
      try {
        const world = await openWorld(name, (stop) => ends.unshift(stop));
        const { destination, proxies, staging } = world;
        const run = world.start('producer', 'run', '--json', '--produce-only', world.manifest(name));
        const [cut, other] = [1, 2].map((n) => world.start(`worker-${n}`, 'worker', '--concurrency', '1'));
        if (!cut || !other) throw new Error('no workers');
        await until('a part of the first worker that is under way', async () => {
          if (!run.isRunning()) throw new Error((await run.ended).stderr);
          const jobs = await world.queue.getJobs(['active']);
          return jobs.find((job) => {
            const { events } = Object(job?.progress) as { events?: number };
            return job?.processedBy?.endsWith(`:${cut.pid}`) && (events ?? 0) > 0;
          });
        });
        for (const place of from) proxies[place].cut([cut.pid]);
        destination.setLatency(0);

        const heal = () => {
          for (const place of from) proxies[place].heal();
        };
        if (!losesParts) {
          await until('all other parts', async () =>
            (await listBelow(staging, layout(name).receipts)).length >= FILES - 1 ? true : undefined,
          );
          heal();
        }
        const ended = await run.ended;
        expect(ended.code, ended.stderr).toBe(0);
        expect(parseReport(ended)).toMatchObject({ balanced: true, problems: [] });
        expect(compareSets(eventsAt(destination), expected)).toEqual(SAME);

        const look = async () => ({
          staging: await hashBelow(staging, name),
          redis: (await world.redis.keys(`*${(await loadMigration(staging, name))?.id}*`)).sort(),
        });
        const before = await look();
        if (losesParts) heal();
        other.kill('SIGTERM');
        expect(await other.ended).toMatchObject({ code: 0 });
        // It does one thing at a time: what it does next, it does once it has ended what it was cut off in.
        const next = world.start(
          'producer',
          'run',
          '--json',
          '--produce-only',
          world.manifest(`${name}-next`),
        );
        const after = await next.ended;
        expect(after.code, after.stderr).toBe(0);
        expect(parseReport(after)).toMatchObject({ balanced: true, problems: [] });
        cut.kill('SIGTERM');
        expect(await cut.ended).toMatchObject({ code: 0 });

        expect(await look()).toEqual(before);
        expect(compareSets(eventsAt(destination), expected)).toEqual(SAME);
        expect(destination.conflicts).toEqual([]);
      } finally {
        await killAllBackhaul();
        for (const end of ends) await end();
      }
    },
    TIMEOUT_MS,
  );
});

async function listBelow(staging: Staging, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of staging.list(prefix)) keys.push(key);
  return keys;
}

async function hashBelow(staging: Staging, name: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const key of await listBelow(staging, layout(name).prefix))
    hashes[key] = createHash('sha256')
      .update((await staging.get(key)) ?? '')
      .digest('hex');
  return hashes;
}
