import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { canonicalJson } from '../../src/lib/json/canonical-json.ts';
import type { Report } from '../../src/migrations/report/report.ts';
import { type BackhaulProcess, type Ended, parseReport, startBackhaul } from '../support/backhaul-process.ts';
import { compareSets, type EventSet, SAME } from '../support/event-set.ts';
import type { Radosgw } from '../support/radosgw.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type StrictDestination, startStrictDestination } from '../support/strict-destination.ts';
import { startUnsteadyProxy, type UnsteadyProxy } from '../support/unsteady-proxy.ts';
import type { Workplace } from '../support/workplace.ts';

/**
 * One migration on the topology of a fleet: a producer that only produces, two workers, a Redis, staging in a
 * folder or on S3 behind a proxy, and a strict destination. Faults act on it, and it counts its resumes.
 */
export interface StormWorld {
  readonly name: string;
  readonly redis: TestRedis;
  readonly destination: StrictDestination;
  /** In front of S3; undefined where staging is a folder. */
  readonly s3: UnsteadyProxy | undefined;
  producer(): BackhaulProcess;
  workers(): readonly BackhaulProcess[];
  startWorker(): void;
  withRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  /** Starts the command that continues the migration: the producer from here on. */
  startResume(): BackhaulProcess;
  /** A resume that took up nothing: another process held the lease. */
  noteRefused(): void;
  /** How often the migration was taken up again. */
  countResumes(): number;
  close(): Promise<void>;
}

export interface Outcome {
  readonly events: EventSet;
  /** Records by outcome. */
  readonly counts: Report['counts'];
  /** Facts about persons that were not sent, by reason; what was sent is among the events. */
  readonly unmerged: Report['people']['setAside'];
}

const KEY = 'phc_storm';
/** Low enough for a migration to last through several faults. */
const EVENTS_PER_MINUTE = 5000;

export async function createStormWorld(
  workplace: Workplace,
  { name, s3, bucket }: { readonly name: string; readonly s3: Radosgw | undefined; readonly bucket: string },
): Promise<StormWorld> {
  const redis = await startRedis();
  const destination = await startStrictDestination({ apiKey: KEY });
  const proxy = s3 && (await startUnsteadyProxy(s3.endpoint));
  const dataDir = workplace.dataDir(name);
  mkdirSync(dataDir, { recursive: true });
  const env = {
    REDIS_URL: redis.url,
    BACKHAUL_PROJECT_API_KEY: KEY,
    ...(s3 &&
      proxy && {
        BACKHAUL_STAGING: `s3://${bucket}/${randomUUID()}`,
        BACKHAUL_S3_ENDPOINT: proxy.url,
        BACKHAUL_S3_ACCESS_KEY_ID: s3.accessKeyId,
        BACKHAUL_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      }),
  };
  const manifest = workplace.manifest({
    name,
    source: { type: 'amplitude', from: 'exports/*.zip' },
    destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
    rejects: { failAbove: '50%' },
    limits: { eventsPerMinute: EVENTS_PER_MINUTE, requestsInFlight: 2, batch: { events: 100 } },
  });
  const start = (...args: string[]) => startBackhaul(args, { dataDir, env });
  const workers: BackhaulProcess[] = [];
  let refused = 0;
  const first = start('run', '--json', '--produce-only', manifest);
  const producers = [first];
  const world: StormWorld = {
    name,
    redis,
    destination,
    s3: proxy,
    producer: () => producers.at(-1) ?? first,
    workers: () => workers.filter((worker) => worker.isRunning()),
    startWorker() {
      workers.push(start('worker', '--concurrency', '2'));
    },
    async withRedis(work) {
      const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
      connection.on('error', () => {});
      try {
        return await work(connection);
      } finally {
        connection.disconnect();
      }
    },
    startResume() {
      const producer = start('resume', '--json', '--produce-only', name);
      producers.push(producer);
      return producer;
    },
    noteRefused() {
      refused += 1;
    },
    countResumes: () => producers.length - 1 - refused,
    async close() {
      for (const process of [...workers, ...producers]) process.kill('SIGKILL');
      await Promise.all([...workers, ...producers].map(({ ended }) => ended));
      await destination.stop();
      await proxy?.stop();
      await redis.stop();
    },
  };
  world.startWorker();
  world.startWorker();
  return world;
}

/** What arrived, with everything about each event that a fault could change. */
export function readOutcome(world: StormWorld, ended: Ended): Outcome {
  expect(ended.code, ended.stderr).toBe(0);
  const { balanced, problems, counts, people } = parseReport(ended);
  expect({ balanced, problems }).toEqual({ balanced: true, problems: [] });

  expect(world.destination.conflicts).toEqual([]);
  const lines = [...world.destination.events().values()].map((event) => {
    // Each round is a migration of its own, which its events name.
    const { $import_job_id: name, ...properties } = event.properties;
    expect(name).toBe(world.name);
    return canonicalJson({ ...event, properties });
  });
  return { events: new Set(lines), counts, unmerged: people.setAside };
}

export function expectSameOutcome(actual: Outcome, expected: Outcome): void {
  expect(compareSets(actual.events, expected.events)).toEqual(SAME);
  expect(actual.counts).toEqual(expected.counts);
  expect(actual.unmerged).toEqual(expected.unmerged);
}

/** What every round has to come to, in numbers. */
export function renderOutcome({ events, counts, unmerged }: Outcome): string {
  const persons = [...events].filter((line) =>
    /"event":"\$(?:identify|set|groupidentify|group_identify)"/.test(line),
  );
  const left = Object.values(unmerged).reduce((sum, count) => sum + count, 0);
  return `${events.size} events, ${persons.length} of them about persons and groups, ${left} facts unmerged, of ${counts.read} records`;
}
