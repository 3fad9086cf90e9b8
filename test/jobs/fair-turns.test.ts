import { once } from 'node:events';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWorkQueue } from '../../jobs/work-queue.ts';
import { createJobWorker } from '../../jobs/worker.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';

/** Migrations that share workers take turns, and one that waits is in nobody's way. */
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
let started: string[];
let ended: string[];
let listeners: (() => void)[];
let closers: (() => Promise<void>)[];

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
  [started, ended, listeners, closers] = [[], [], [], []];
});
afterEach(async () => {
  await Promise.all(closers.map((close) => close()));
  await queue.close();
});

const tell = () => {
  for (const listener of listeners) listener();
};
/** Waits for what the jobs bring about. */
const until = (isThere: () => boolean) =>
  new Promise<void>((resolve) => {
    const look = () => isThere() && resolve();
    listeners.push(look);
    look();
  });

const offer = (migration: string, number: number, rank: number) =>
  queue.add([
    {
      id: String(number),
      jobId: `${migration}-${number}`,
      name: 'resolve-people',
      payload: { migration, id: migration, epoch: 1, turn: 1, from: number, to: number + 1 },
      delayMs: 0,
      rank,
    },
  ]);

/** Jobs of the migration `large` wait until the worker is closed, as for a budget. */
function startWorker(isWaiting?: (migration: string) => boolean, concurrency = 1) {
  const worker = createJobWorker({
    redisUrl: server.url,
    queueName: 'resolve-people',
    job: 'resolve-people',
    concurrency,
    log,
    ...(isWaiting ? { isWaiting } : {}),
    async handler({ migration, from }, { signal }) {
      const name = `${migration}-${from}`;
      started.push(name);
      tell();
      if (migration === 'large') {
        if (!signal.aborted) await once(signal, 'abort');
        throw signal.reason;
      }
      ended.push(name);
      tell();
      return { kind: 'done' };
    },
  });
  closers.push(worker.close);
  return worker;
}

describe('migrations on the same workers', () => {
  it('take turns: the first open job of one comes before the second of another', async () => {
    for (const number of [1, 2, 3]) await offer('early', number, number);
    for (const number of [1, 2]) await offer('late', number, number);
    startWorker();
    await until(() => ended.length === 5);
    expect(ended).toEqual(['early-1', 'late-1', 'early-2', 'late-2', 'early-3']);
  });

  it('pass the jobs that wait, which hold no slot and keep their work', async () => {
    for (const number of [1, 2, 3]) await offer('large', number, number);
    startWorker((migration) => migration === 'large');
    await until(() => started.includes('large-1'));
    for (const number of [1, 2, 3]) await offer('small', number, number);
    await until(() => ended.length === 3);
    expect(ended).toEqual(['small-1', 'small-2', 'small-3']);
    expect(started.filter((name) => name.startsWith('large'))).toEqual(['large-1']);
    expect(await queue.state('resolve-people', 'large-1')).toEqual({ kind: 'open' });
  });

  it('pass the jobs that wait in a process that may take more at once than it takes', async () => {
    for (const number of [1, 2, 3]) await offer('large', number, number);
    const worker = startWorker((migration) => migration === 'large', 2);
    worker.setConcurrency(1);
    await until(() => started.includes('large-1'));
    worker.setConcurrency(2);
    await offer('small', 1, 1);
    await until(() => ended.length === 1);
    expect(ended).toEqual(['small-1']);
    expect(started.filter((name) => name.startsWith('large'))).toEqual(['large-1']);
  });

  it('share several processes so: a process that came too late for a job puts back what would only wait', async () => {
    const isWaiting = (migration: string) => migration === 'large';
    for (const number of [1, 2, 3, 4, 5]) await offer('large', number, number);
    startWorker(isWaiting);
    startWorker(isWaiting);
    await until(() => started.length === 2);
    for (const number of [1, 2, 3]) {
      await offer('small', number, 1);
      await until(() => ended.length === number);
    }
    expect(started.filter((name) => name.startsWith('large')).toSorted()).toEqual(['large-1', 'large-2']);
  });

  it('are handed back by a worker that closes, also beside the slots', async () => {
    let isOtherWaiting = false;
    const isWaiting = (migration: string) => migration === 'large' || isOtherWaiting;
    await offer('large', 1, 1);
    const worker = createJobWorker({
      redisUrl: server.url,
      queueName: 'resolve-people',
      job: 'resolve-people',
      concurrency: 1,
      log,
      isWaiting,
      async handler({ migration }, { signal }) {
        started.push(migration);
        tell();
        if (!signal.aborted) await once(signal, 'abort');
        throw signal.reason;
      },
    });
    await until(() => started.length === 1);
    await offer('other', 1, 1);
    await until(() => started.length === 2);
    isOtherWaiting = true;
    await worker.close();
    for (const migration of ['large', 'other'])
      expect(await queue.state('resolve-people', `${migration}-1`)).toEqual({ kind: 'open' });
  });
});
