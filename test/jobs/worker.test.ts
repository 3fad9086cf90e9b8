import { once } from 'node:events';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type JobResult, QUEUE_PREFIX, retryPolicy } from '../../jobs/catalog.ts';
import { startWorkers, type WorkersDeps } from '../../jobs/start-workers.ts';
import { createWorkQueue } from '../../jobs/work-queue.ts';
import { createJobWorker, type Handler } from '../../jobs/worker.ts';
import { createUnderWay } from '../../src/lib/async/under-way.ts';
import { ConfigError, FencedOutError, UnableError, UnavailableError } from '../../src/lib/errors.ts';
import type { WorkEvent } from '../../src/migrations/run/work-queue.ts';
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
const payload = { migration: 'm', id: 'm', epoch: 1, turn: 1, from: 0, to: 64 };

let server: TestRedis;
let queue: Awaited<ReturnType<typeof createWorkQueue>>;
let closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(async () => {
  queue = await createWorkQueue(server.url, QUEUES, log);
});
afterEach(async () => {
  await Promise.all(closers.map((close) => close()));
  closers = [];
  await queue.close();
});

function startWorker(handler: Handler<'resolve-people'>, more: { readonly refuseForMs?: number } = {}) {
  const deps = { redisUrl: server.url, queueName: 'resolve-people', concurrency: 1, log };
  const worker = createJobWorker({ ...deps, ...more, job: 'resolve-people', handler });
  closers.push(worker.close);
  return worker;
}

const settled = (jobId: string) =>
  new Promise<WorkEvent>((resolve) => {
    const stop = queue.listen((event) => {
      if (event.kind !== 'settled' || event.jobId !== jobId) return;
      stop();
      resolve(event);
    });
  });

const offer = (jobId: string, what: object = payload, rank = 1) =>
  queue.add([{ id: jobId, jobId, name: 'resolve-people', payload: what, delayMs: 0, rank }]);

describe('a worker', () => {
  it('leaves a job whose lock it has lost to whoever has it, and calls that no fault', async () => {
    const lines: { level: number; msg: string }[] = [];
    const heard = pino({ level: 'warn' }, { write: (text: string) => void lines.push(JSON.parse(text)) });
    let ended = () => {};
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const redis = new Redis(server.url);
    const handler: Handler<'resolve-people'> = async (_, { signal }) => {
      await redis.del(`${QUEUE_PREFIX}:resolve-people:unlocked:lock`); // as it expires while the process is frozen
      await once(signal, 'abort');
      setImmediate(ended);
      throw signal.reason;
    };
    const deps = { redisUrl: server.url, queueName: 'resolve-people', concurrency: 1, log: heard };
    const worker = createJobWorker({ ...deps, job: 'resolve-people', handler, lockMs: 1_000 });
    await offer('unlocked');
    await end;
    await worker.close();
    redis.disconnect();
    expect(lines).toMatchObject([
      { level: 40, msg: expect.stringContaining('another worker continues the job where it was saved last') },
    ]);
  });

  it('does a job that it gave back before, and misses no lock of it', async () => {
    const lines: string[] = [];
    const heard = pino({ level: 'warn' }, { write: (text: string) => void lines.push(text) });
    let calls = 0;
    const handler: Handler<'resolve-people'> = async () => {
      calls += 1;
      if (calls === 1) throw new UnableError('it has no key yet');
      return { kind: 'done' };
    };
    const deps = { redisUrl: server.url, queueName: 'resolve-people', concurrency: 1, log: heard };
    // Locks are renewed several times while the slot of the job that was given back stays empty.
    const worker = createJobWorker({
      ...deps,
      job: 'resolve-people',
      handler,
      lockMs: 400,
      refuseForMs: 1_500,
    });
    closers.push(worker.close);
    const end = settled('again');
    await offer('again');
    expect(await end).toMatchObject({ state: { kind: 'done' } });
    expect(calls).toBe(2);
    expect(lines).toEqual([]);
  });

  it('tells the producer what became of each job, in the words of the port', async () => {
    const results: Record<string, () => JobResult> = {
      done: () => ({ kind: 'done' }),
      fenced: () => {
        throw new FencedOutError('a newer writer holds it');
      },
      broken: () => {
        throw new ConfigError('the bucket is gone');
      },
    };
    startWorker(async ({ migration }) => results[migration]?.() ?? { kind: 'done' });
    const ends: WorkEvent[] = [];
    for (const name of Object.keys(results)) {
      const end = settled(name);
      await offer(name, { ...payload, migration: name, id: name });
      ends.push(await end);
    }
    expect(ends).toMatchObject([
      { state: { kind: 'done' } },
      { state: { kind: 'handed_back', why: 'a newer writer holds it' } },
      { state: { kind: 'failed', reason: 'the bucket is gone' } },
    ]);
    expect(await queue.state('resolve-people', 'broken')).toMatchObject({ kind: 'failed' });
    expect(await queue.state('resolve-people', 'never-offered')).toEqual({ kind: 'missing' });
  });

  it('of another version, which would fail it, does not see a job', async () => {
    const earlier = new Queue('resolve-people', { connection: { url: server.url }, prefix: '{bh}' });
    try {
      await offer('versioned');
      expect(await earlier.getJob('versioned')).toBeUndefined();
      expect(await earlier.getJobCountByTypes('wait', 'prioritized', 'delayed', 'active')).toBe(0);
      const end = settled('versioned');
      startWorker(async () => ({ kind: 'done' }));
      expect(await end).toMatchObject({ state: { kind: 'done' } });
    } finally {
      await earlier.close();
    }
  });

  it('hands its job back when it is closed, and the next worker continues it at once', async () => {
    let taken: () => void = () => {};
    const isTaken = new Promise<void>((resolve) => {
      taken = resolve;
    });
    const first = startWorker(async (_, { signal, progress }) => {
      progress({ sent: 1 }); // still to be flushed when the job is handed back
      taken();
      if (!signal.aborted) await once(signal, 'abort');
      throw signal.reason;
    });
    await offer('handed');
    await isTaken;
    await first.close();
    expect(await queue.state('resolve-people', 'handed')).toEqual({ kind: 'open' });

    const end = settled('handed');
    startWorker(async () => ({ kind: 'done' }));
    expect(await end).toMatchObject({ state: { kind: 'done' } });
  });

  it('that cannot do the jobs of a migration leaves them to others at once, as if it had not tried', async () => {
    const tried: number[] = [];
    let refuse = () => {};
    const refused = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    startWorker(async ({ from }) => {
      tried.push(from);
      refuse();
      throw new UnableError('no key');
    });
    const ends = [1, 2, 3].map((from) => settled(`left-${from}`));
    for (const from of [1, 2, 3]) await offer(`left-${from}`, { ...payload, from }, from);
    await refused;
    startWorker(async () => ({ kind: 'done' }));
    for (const end of await Promise.all(ends)) expect(end).toMatchObject({ state: { kind: 'done' } });
    expect(tried[0]).toBe(1);
    const raw = new Queue('resolve-people', { connection: { url: server.url }, prefix: QUEUE_PREFIX });
    closers.push(() => raw.close());
    const jobs = await Promise.all([1, 2, 3].map((from) => raw.getJob(`left-${from}`)));
    expect(jobs.map((job) => job?.attemptsMade)).toEqual([1, 1, 1]);
  });

  it('that cannot do the jobs of a migration works on those of another, whatever its name', async () => {
    let refuse = () => {};
    const refused = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    startWorker(
      async ({ id }) => {
        if (id === 'own') return { kind: 'done' };
        refuse();
        throw new UnableError('no key');
      },
      { refuseForMs: 60_000 },
    );
    await offer('unable', { ...payload, id: 'unable' });
    await refused;
    const end = settled('own');
    await offer('own', { ...payload, id: 'own' });
    expect(await end).toMatchObject({ state: { kind: 'done' } });
    expect(await queue.state('resolve-people', 'unable')).toEqual({ kind: 'open' });
  }, 30_000);

  it('tries a job again soon after the clock was set back by a day', async () => {
    const real = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => real() + 24 * 3_600_000);
    try {
      const worker = startWorker(async () => {
        throw new UnavailableError('down', 'backoff');
      });
      await offer('later');
      const raw = new Queue('resolve-people', { connection: { url: server.url }, prefix: QUEUE_PREFIX });
      closers.push(() => raw.close());
      await vi.waitFor(async () => expect(await raw.getJobState('later')).toBe('delayed'), 20_000);
      await worker.close();
      clock.mockRestore();

      const end = settled('later');
      startWorker(async () => ({ kind: 'done' }));
      expect(await queue.state('resolve-people', 'later')).toEqual({ kind: 'open' });
      expect(await end).toMatchObject({ state: { kind: 'done' } });
    } finally {
      clock.mockRestore();
    }
  });

  it('gives up on a job of another shape, and says so', async () => {
    startWorker(async () => ({ kind: 'done' }));
    const raw = new Queue('resolve-people', {
      connection: { url: server.url },
      prefix: QUEUE_PREFIX,
      defaultJobOptions: retryPolicy,
    });
    closers.push(() => raw.close());
    const end = settled('foreign');
    await raw.add('resolve-people', { hello: 'world' }, { jobId: 'foreign' });
    expect(await end).toMatchObject({
      state: { kind: 'failed', reason: expect.stringContaining('not a resolve-people job') },
    });
  });
});

it('a process opens one connection for each queue that it waits at, and one for all it says there', async () => {
  const redis = new Redis(server.url);
  const count = async () =>
    String(await redis.call('client', 'list', 'type', 'normal'))
      .trim()
      .split('\n').length - 1;
  const queues = Object.keys(QUEUES).length;
  expect(await count()).toBe(queues + 1);
  const workers = startWorkers({
    redisUrl: server.url,
    redis,
    staging: {} as WorkersDeps['staging'],
    migrations: { isWaiting: () => false } as unknown as WorkersDeps['migrations'],
    produces: undefined,
    stagingHere: createUnderWay(),
    concurrency: 1,
    log,
  });
  // The workers of staging files, of a migration's own queue, are not among them.
  await vi.waitFor(async () => expect(await count()).toBe(queues + 1 + (queues - 1) + 1));
  await workers.close();
  redis.disconnect();
});

it('a process that stages imports half as many parts at once, until it has staged', async () => {
  const redis = new Redis(server.url);
  const stagingHere = createUnderWay();
  let most = 0;
  const atWork: (() => void)[] = [];
  const use = () =>
    new Promise<JobResult>((resolve) => {
      atWork.push(() => resolve({ kind: 'done' }));
      most = Math.max(most, atWork.length);
    });
  /** Ends one part after the other, each once `width` of them are at work; the most that were. */
  const importAll = async (name: string, width: number) => {
    most = 0;
    const ids = Array.from({ length: 8 }, (_, n) => `${name}-${n}`);
    const ends = ids.map(settled);
    await queue.add(ids.map((id) => ({ ...toPartJob(id), jobId: id, delayMs: 0, rank: 1 })));
    for (let left = ids.length; left > 0; left -= 1) {
      await vi.waitFor(() => expect(atWork.length).toBeGreaterThanOrEqual(Math.min(width, left)), 20_000);
      atWork.shift()?.();
    }
    await Promise.all(ends);
    return most;
  };
  let endStaging = () => {};
  const staging = stagingHere.during(
    () =>
      new Promise<void>((resolve) => {
        endStaging = resolve;
      }),
  );
  const workers = startWorkers({
    redisUrl: server.url,
    redis,
    staging: {} as WorkersDeps['staging'],
    migrations: { isWaiting: () => false, use } as unknown as WorkersDeps['migrations'],
    produces: undefined,
    stagingHere,
    concurrency: 4,
    log,
  });
  closers.push(async () => {
    await workers.close();
    redis.disconnect();
  });
  expect(await importAll('staging', 2)).toBe(2);
  endStaging();
  await staging;
  expect(await importAll('staged', 4)).toBe(4);
});

const toPartJob = (id: string) => {
  const format = { kind: 'json' } as const;
  const counts = { number: 0, records: 1, bytes: 1, firstRecord: 0 };
  const part = { id, fileId: 'f', file: 'f', format, ...counts, sha256: '', etag: '' };
  return { id, name: 'import-part' as const, payload: { migration: 'm', id: 'm', epoch: 1, part } };
};

describe('without Redis', () => {
  it('workers and queues can still be closed', async () => {
    const own = await startRedis();
    const gone = await createWorkQueue(own.url, QUEUES, log);
    let taken: () => void = () => {};
    const isTaken = new Promise<void>((resolve) => {
      taken = resolve;
    });
    const worker = createJobWorker({
      redisUrl: own.url,
      queueName: 'resolve-people',
      job: 'resolve-people',
      concurrency: 1,
      log,
      closeWithinMs: 500,
      handler: async (_, { signal }) => {
        taken();
        if (!signal.aborted) await once(signal, 'abort');
        throw signal.reason;
      },
    });
    await gone.add([{ id: 'x', jobId: 'x', name: 'resolve-people', payload, delayMs: 0, rank: 1 }]);
    await isTaken;
    const looking = new Redis(own.url, { maxRetriesPerRequest: 1 });
    looking.on('error', () => {});
    await looking.ping();
    await own.kill9();
    await worker.close();
    await gone.close();
    looking.disconnect();
    await own.stop();
  }, 60_000);
});
