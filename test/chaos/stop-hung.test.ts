import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { END_WITHIN_MS } from '../../src/cli/stop-signal.ts';
import { createS3Bucket } from '../../src/state/staging/s3-bucket.ts';
import {
  type BackhaulProcess,
  type Ended,
  killAllBackhaul,
  parseReport,
  startBackhaul,
  waitForServices,
} from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { startUnsteadyProxy } from '../support/unsteady-proxy.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace, writeExports } from '../support/workplace.ts';

/**
 * One SIGTERM ends a command within the documented time, whatever does not answer. `npm test` tries a Redis that
 * hangs, the long form all.
 */
const TIMEOUT_MS = 180_000;
/** On a busy machine the timers of a process are late as well. */
const BOUND_MS = END_WITHIN_MS + 8_000;
const KEY = 'phc_hung';
const BUCKET = 'backhaul-hung';
const FILES = 6;
const RECORDS = 200;
/** Enough that staging is under way for a while, and too few to be grouped. */
const OBJECTS = 24;

const s3 = ALL ? await startRadosgw() : undefined;
await s3?.createBucket(BUCKET);
let workplace: Workplace;
beforeAll(async () => {
  workplace = createWorkplace();
  await writeExports(workplace, { files: FILES, records: RECORDS });
});
const toStop: (() => Promise<void>)[] = [];
afterEach(async () => {
  await killAllBackhaul();
  for (const stop of toStop.splice(0)) await stop();
});
afterAll(async () => {
  await s3?.stop();
  await workplace.remove();
});

interface Where {
  readonly from?: string;
  readonly staging?: string;
}

async function open(name: string, { from = 'exports/*.zip', staging }: Where = {}) {
  const redis = await startRedis();
  const strict = await startStrictDestination({ apiKey: KEY, latencyMs: 300 });
  const destination = await startUnsteadyProxy(strict.url);
  const storage = s3 && (await startUnsteadyProxy(s3.endpoint));
  const wakeRedis = () => process.kill(redis.pid, 'SIGCONT');
  toStop.push(async () => {
    wakeRedis();
    await Promise.all([redis.stop(), destination.stop(), strict.stop(), storage?.stop()]);
  });
  const manifest = workplace.manifest({
    name,
    source: { type: 'amplitude', from },
    destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
    approval: { reference: 'a test', eventsPerMinute: 1_000_000 },
    limits: { requestsInFlight: 2, batch: { events: 50 }, eventsPerMinute: 1_000_000 },
    rejects: { failAbove: '5%' },
  });
  const env = {
    REDIS_URL: redis.url,
    BACKHAUL_PROJECT_API_KEY: KEY,
    ...(staging === undefined ? {} : { BACKHAUL_STAGING: staging }),
    ...(storage && s3
      ? {
          BACKHAUL_S3_ENDPOINT: storage.url,
          BACKHAUL_S3_ACCESS_KEY_ID: s3.accessKeyId,
          BACKHAUL_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
        }
      : {}),
  };
  const start = (...args: string[]) => startBackhaul(args, { dataDir: workplace.dataDir(name), env });
  return {
    run: start('run', '--json', manifest),
    start,
    hangRedis: () => process.kill(redis.pid, 'SIGSTOP'),
    destination,
    /** Of tests with S3 alone. */
    storage: storage ?? destination,
    async sent() {
      await until('the first requests', () => strict.requests.length > 2 || undefined);
    },
    async expectWholeAfterResume() {
      wakeRedis();
      destination.setMood('steady');
      storage?.setMood('steady');
      const ended = await start('resume', '--json', name).ended;
      expect(ended.code, ended.stderr).toBe(0);
      expect(parseReport(ended)).toMatchObject({ balanced: true, problems: [] });
    },
  };
}
type Bench = Awaited<ReturnType<typeof open>>;

async function stop(command: BackhaulProcess): Promise<Ended> {
  const startMs = performance.now();
  command.kill('SIGTERM');
  const ended = await command.ended;
  expect(performance.now() - startMs, ended.stderr).toBeLessThan(BOUND_MS);
  return ended;
}

async function expectStopped(bench: Bench, name: string): Promise<void> {
  const ended = await stop(bench.run);
  expect(ended.code, ended.stderr).toBe(5);
  expect(ended.stderr).toContain(`backhaul.mjs resume ${name}`);
  await bench.expectWholeAfterResume();
}

/** Long before the client of S3 gives up: in the log and the status of the run, and by a command that looks at it. */
async function expectNamed(bench: Bench, name: string): Promise<void> {
  const status = bench.start('status', name);
  const sentence = `does not respond (could not `;
  for (const each of [bench.run, status])
    await until(
      'the storage to be named',
      () => each.stderr().includes(sentence) || undefined,
      NAMED_WITHIN_MS,
    );
  await until(
    'the status',
    () => /"waitingFor":"s3:[^"]*does not respond/.test(bench.run.stderr()) || undefined,
    NAMED_WITHIN_MS,
  );
  expect(bench.run.stderr()).toContain('S3 does not answer; waiting for it');
  status.kill('SIGKILL');
}
const NAMED_WITHIN_MS = 60_000;

it(
  'a run whose Redis does not answer',
  async () => {
    const bench = await open('redis');
    await bench.sent();
    bench.hangRedis();
    await expectStopped(bench, 'redis');
  },
  TIMEOUT_MS,
);

it.runIf(ALL)(
  'a run whose destination does not answer',
  async () => {
    const bench = await open('destination');
    await bench.sent();
    bench.destination.setMood('hangs');
    await until('a request without an answer', () => bench.destination.heldUp() > 0 || undefined);
    await expectStopped(bench, 'destination');
  },
  TIMEOUT_MS,
);

it.runIf(ALL)(
  'a worker whose Redis does not answer',
  async () => {
    const bench = await open('worker');
    const worker = bench.start('worker');
    await until('the worker', () => worker.stderr().includes('imports up to') || undefined);
    await bench.sent();
    bench.hangRedis();
    const ended = await stop(worker);
    expect([0, 5], ended.stderr).toContain(ended.code);
  },
  TIMEOUT_MS,
);

for (const mood of ['hangs', 'trickles'] as const) {
  it.runIf(s3)(
    `a run whose staging on S3 ${mood}`,
    async () => {
      const name = `staging-${mood}`;
      const bench = await open(name, { staging: `s3://${BUCKET}/${randomUUID()}` });
      await bench.sent();
      bench.storage.setMood(mood);
      await until('a request without an answer', () => bench.storage.heldUp() > 0 || undefined);
      if (mood === 'hangs') await expectNamed(bench, name);
      await expectStopped(bench, name);
    },
    TIMEOUT_MS,
  );

  it.runIf(s3)(
    `a run whose source on S3 ${mood}`,
    async () => {
      if (!s3) return;
      const name = `source-${mood}`;
      const bucket = createS3Bucket({ ...s3, bucket: BUCKET });
      for (let file = 1; file <= OBJECTS; file += 1)
        await bucket.put(`${name}/${file}.json.gz`, gzipSync(writeEvents(RECORDS)));
      const bench = await open(name, { from: `s3://${BUCKET}/${name}/` });
      await until('staging', () => {
        expect(bench.run.isRunning(), bench.run.stderr()).toBe(true);
        return bench.run.stderr().includes('"phase":"stage"') || undefined;
      });
      bench.storage.setMood(mood);
      await until('a request without an answer', () => bench.storage.heldUp() > 0 || undefined);
      await expectStopped(bench, name);
    },
    TIMEOUT_MS,
  );
}

/** Lines of an Amplitude export, each event another one. */
const writeEvents = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const event = { event_type: 'Opened', event_time: '2023-03-14 09:26:53', uuid: randomUUID() };
    return `${JSON.stringify({ ...event, user_id: `u-${index % 40}` })}\n`;
  }).join('');

const postgres = ALL ? await startPostgres() : undefined;
afterAll(() => postgres?.stop());

it.runIf(postgres)(
  'an API whose PostgreSQL does not answer',
  async () => {
    if (!postgres) return;
    const dataDir = workplace.dataDir('postgres');
    const serve = startBackhaul(['serve'], { dataDir, env: { DATABASE_URL: postgres.url } });
    const { api } = await waitForServices(dataDir, serve);
    await until('the API', () => serve.stderr().includes('Ctrl-C stops it') || undefined);
    const pids = listTree(postgres.pid);
    try {
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      const question = fetch(`${api?.url}/api/projects/@current/events/`, {
        headers: { authorization: `Bearer ${api?.personalKey}` },
      }).catch(() => undefined);
      const ended = await stop(serve);
      expect([0, 5], ended.stderr).toContain(ended.code);
      await question;
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
  },
  TIMEOUT_MS,
);

/** A process and its children. */
function listTree(pid: number): number[] {
  const children = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return (
        readFileSync(`/proc/${name}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ')[1] === String(pid)
      );
    } catch {
      return false; // it has just ended
    }
  });
  return [pid, ...children.map(Number)];
}
