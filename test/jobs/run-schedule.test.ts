import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { QUEUE_PREFIX, SCHEDULE_JOB } from '../../jobs/catalog.ts';
import { getTitle } from '../../jobs/dashboard.ts';
import { type ScheduleWork, startScheduleJobs } from '../../jobs/run-schedule.ts';
import { UnableError } from '../../src/lib/errors.ts';
import type { ScheduleView } from '../../src/migrations/schedule/schedules.ts';
import { silent } from '../support/databases.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

let server: TestRedis;
let redis: Redis;
let queue: Queue;
let closers: (() => Promise<void>)[] = [];
let looks = 0;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => {
  queue = new Queue(SCHEDULE_JOB, { connection: { url: server.url }, prefix: QUEUE_PREFIX });
});
afterEach(async () => {
  await Promise.all(closers.map((close) => close()));
  closers = [];
  await queue.obliterate({ force: true });
  await queue.close();
});

const weekly = (migration: string, more: Partial<ScheduleView> = {}): ScheduleView => ({
  migration,
  state: 'active',
  reason: '',
  cron: '30 2 * * 1',
  timezone: 'Europe/Berlin',
  lagMinutes: 1,
  ...more,
});

/** A process with schedules; those of `all` that were run are not due any more. */
function start(all: ScheduleView[], run: ScheduleWork['run'] = async () => {}, log = silent) {
  const ran: string[] = [];
  const work: ScheduleWork = {
    async list() {
      looks += 1;
      return all;
    },
    async run(migration, signal) {
      await run(migration, signal);
      ran.push(migration);
      for (const [index, { overdueSince: _, ...view }] of all.entries())
        if (view.migration === migration) all[index] = view;
    },
  };
  const jobs = startScheduleJobs({ redisUrl: server.url, work, log, checkEveryMs: 50 });
  closers.push(jobs.close);
  return { ran, close: jobs.close };
}

const clocks = async () =>
  (await queue.getJobSchedulers()).map(({ key, pattern, tz }) => ({ key, pattern, tz }));
const untilClocks = (count: number) =>
  until(`${count} clocks`, async () => {
    const found = await clocks();
    return found.length === count ? found : undefined;
  });

describe('the clock of schedules', () => {
  it('is set once for any number of processes, follows changes, and is removed with its schedule', async () => {
    const all = [weekly('a'), weekly('b')];
    start(all);
    start(all);
    await untilClocks(2);
    expect(await queue.getDelayedCount()).toBe(2);
    all[0] = weekly('a', { cron: '0 6 * * *', timezone: 'Asia/Tokyo' });
    await until(
      'the change',
      async () => (await clocks()).some(({ key, tz }) => key === 'a' && tz === 'Asia/Tokyo') || undefined,
    );
    const [next] = (await queue.getJobSchedulers()).filter(({ key }) => key === 'a');
    expect(new Date(next?.next ?? 0).getUTCHours()).toBe(21);
    all[1] = weekly('b', { state: 'paused' });
    expect(await untilClocks(1)).toEqual([{ key: 'a', pattern: '0 6 * * *', tz: 'Asia/Tokyo' }]);
  });

  it('runs when the time has come, and is set for the next one', async () => {
    const { ran } = start([weekly('a')]);
    await untilClocks(1);
    const [job] = await queue.getDelayed();
    expect(job && getTitle(SCHEDULE_JOB, job.data)).toBe('a · on schedule');
    await job?.promote();
    await until('the run', () => (ran.length === 1 ? ran : undefined));
    expect(await queue.getDelayedCount()).toBe(1);
  });

  it('is set again where Redis lost everything', async () => {
    start([weekly('a')]);
    await untilClocks(1);
    await redis.flushall();
    await untilClocks(1);
  });
});

it('a queue that was paused on the dashboard, or given a concurrency of 0, is named once, and once it gives out jobs', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const all = [weekly('a', { overdueSince: '2024-01-01T00:00:00.000Z' })];
  await queue.pause();
  const { ran } = start(all, undefined, log);
  const named = (count: number) => until(`${count} lines`, () => (lines.length >= count ? lines : undefined));
  await named(1);
  await queue.setGlobalConcurrency(0);
  await queue.resume();
  await named(2);
  expect(ran).toEqual([]);
  await queue.removeGlobalConcurrency();
  expect(await named(3)).toEqual([
    'schedules wait for the queue run-schedule, which is paused: resume it on the queue dashboard (/queues)',
    'schedules wait for the queue run-schedule, whose concurrency is set to 0: raise it on the queue dashboard (/queues)',
    'schedules are run again',
  ]);
  await until('the run', () => ran.length > 0 || undefined);
});

describe('what was missed', () => {
  it('is run once, by one of the processes, also while its run takes long', async () => {
    const all = [weekly('a', { overdueSince: '2024-01-01T00:00:00.000Z' }), weekly('b')];
    let begun = 0;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const run = async () => {
      begun += 1;
      await ended;
    };
    const [one, other] = [start(all, run), start(all, run)];
    await until('the run', () => begun || undefined);
    const before = looks;
    await until('more looks at the schedules', () => looks > before + 6 || undefined);
    expect(await queue.getJobCountByTypes('active', 'waiting')).toBe(1);
    // Once it has ended it may run again, as these schedules say for ever that it is overdue.
    expect(begun).toBe(1);
    end();
    await until('its end', () => one.ran.length + other.ran.length || undefined);
  });

  it('is left to a process that can run it', async () => {
    const all = [weekly('a', { overdueSince: '2024-01-01T00:00:00.000Z' })];
    const unable = start(all, async () => {
      throw new UnableError('no key');
    });
    await until(
      'the job',
      async () => (await queue.getJobs(['delayed', 'active', 'waiting'])).length || undefined,
    );
    const able = start(all);
    await until('the run', () => able.ran.length || undefined);
    expect(unable.ran).toEqual([]);
  });

  it('is handed to another process when the one that runs it ends', async () => {
    const all = [weekly('a', { overdueSince: '2024-01-01T00:00:00.000Z' })];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const first = start(all, (_, signal) => {
      begin();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('shutdown')));
      });
    });
    await begun;
    const second = start(all);
    await first.close();
    await until('the run', () => second.ran.length || undefined);
    expect(first.ran).toEqual([]);
  });
});
