import { Queue } from 'bullmq';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DELETION_JOB, QUEUE_PREFIX } from '../../jobs/catalog.ts';
import { createDashboard, getTitle } from '../../jobs/dashboard.ts';
import { type DeletionJobs, type DeletionWork, startDeletionJobs } from '../../jobs/delete-events.ts';
import { UnavailableError } from '../../src/lib/errors.ts';
import { silent } from '../support/databases.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const SUNDAYS = '0 5 * * 0';
const DAY_MS = 24 * 3_600_000;

let server: TestRedis;
let queue: Queue;
let closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());
beforeEach(() => {
  queue = new Queue(DELETION_JOB, { connection: { url: server.url }, prefix: QUEUE_PREFIX });
});
afterEach(async () => {
  await Promise.all(closers.map((close) => close()));
  closers = [];
  await queue.obliterate({ force: true });
  await queue.close();
});

function start(work: Partial<DeletionWork>, schedule = SUNDAYS, log = silent): DeletionJobs {
  const nothing = { run: async () => {}, oldest: async () => undefined };
  const jobs = startDeletionJobs({
    redisUrl: server.url,
    schedule,
    work: { ...nothing, ...work },
    log,
    holdsEveryMs: 50,
  });
  closers.push(jobs.close);
  return jobs;
}

const ended = (jobs: DeletionJobs, jobId: string) =>
  until(`the end of job ${jobId}`, async () => {
    const found = await jobs.state(jobId);
    return found?.state === 'completed' || found?.state === 'failed' ? found : undefined;
  });
/** The schedule stands once the start is over. */
const scheduled = () => until('a schedule', async () => (await queue.getJobSchedulers())[0]);

describe('the job that deletes events', () => {
  it('is scheduled for the time that the setting names, in UTC', async () => {
    start({});
    const { next } = await scheduled();
    const at = new Date(next ?? 0);
    expect([at.getUTCDay(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]).toEqual([0, 5, 0, 0]);
    expect(at.getTime()).toBeGreaterThan(Date.now());
  });

  it('counts as no open job until its time has come, so that workers can be scaled to none', async () => {
    const dashboard = createDashboard({ redisUrl: server.url, admit: () => 'viewer', log: silent });
    closers.push(dashboard.close);
    start({});
    await scheduled();
    expect(await queue.getDelayedCount()).toBe(1);
    const isOpen = (await dashboard.countJobs()).filter(({ waiting, active }) => waiting + active > 0);
    expect(isOpen).toEqual([]);
  });

  it('follows a changed setting, and keeps one schedule for any number of processes', async () => {
    start({});
    await scheduled();
    start({}, '30 23 1 * *');
    await until('the new schedule', async () => {
      const [scheduler, ...more] = await queue.getJobSchedulers();
      expect(more).toEqual([]);
      return new Date(scheduler?.next ?? 0).toISOString().includes('-01T23:30:00') || undefined;
    });
    expect(await queue.getDelayedCount()).toBe(1);
  });

  it('runs when the time has come, and is scheduled for the next one', async () => {
    start({});
    const { next } = await scheduled();
    const [due] = await queue.getDelayed();
    await due?.promote();
    const [job] = await until('the end of the job', async () => {
      const jobs = await queue.getCompleted();
      return jobs.length > 0 ? jobs : undefined;
    });
    expect(job?.data).toEqual({ because: 'scheduled' });
    expect(await queue.getDelayedCount()).toBe(1);
    expect((await scheduled()).next).toBe((next ?? 0) + 7 * DAY_MS);
  });

  it('says what a job waits for that was asked for while its queue is paused, or has a concurrency of 0', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    await queue.pause();
    const jobs = start({}, SUNDAYS, log);
    const jobId = await jobs.ask();
    const paused = 'the queue delete-events, which is paused: resume it on the queue dashboard (/queues)';
    expect(await jobs.state(jobId)).toMatchObject({ state: 'waiting', reason: `for ${paused}` });
    await until(
      'the log to name the queue',
      () => lines.includes(`deletions wait for ${paused}`) || undefined,
    );
    await scheduled();
    await jobs.close();

    // The process that starts next leaves what an operator has set.
    await queue.setGlobalConcurrency(0);
    await queue.resume();
    let isChecked = false;
    const oldest = async () => {
      isChecked = true;
      return undefined;
    };
    const next = start({ oldest }, SUNDAYS, log);
    await until('the log to name it', () => lines.some((line) => line.includes('set to 0')) || undefined);
    await until('a check', () => isChecked || undefined);
    expect(await queue.getGlobalConcurrency()).toBe(0);
    expect(await next.state(jobId)).toMatchObject({ state: 'waiting' });
    await queue.removeGlobalConcurrency();
    expect(await ended(next, jobId)).toMatchObject({ state: 'completed', reason: undefined });
  });

  it('runs when asked', async () => {
    let runs = 0;
    const jobs = start({
      run: async () => {
        runs += 1;
      },
    });
    const jobId = await jobs.ask();
    expect(await ended(jobs, jobId)).toEqual({ state: 'completed', reason: undefined });
    expect(runs).toBe(1);
  });

  it('runs for the projects that were asked for, once for all who want no more', async () => {
    const ran: (readonly number[] | undefined)[] = [];
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const jobs = start({
      run: async (_signal, _onProgress, projectIds) => {
        ran.push(projectIds);
        await held;
      },
    });
    const first = await jobs.ask([1]);
    await until('the first to run', () => (ran.length > 0 ? true : undefined));
    const waiting = await jobs.ask([1, 2]);
    expect([await jobs.ask([2]), await jobs.ask([2, 1])]).toEqual([waiting, waiting]);
    const other = await jobs.ask([3]);
    expect(new Set([first, waiting, other]).size).toBe(3);
    goOn();
    await ended(jobs, other);
    expect(ran).toEqual([[1], [1, 2], [3]]);
  });

  it('makes up for a time that was missed while nobody was there', async () => {
    let ran: () => void = () => {};
    const hasRun = new Promise<void>((resolve) => {
      ran = resolve;
    });
    start({ oldest: async () => new Date(Date.now() - 8 * DAY_MS), run: async () => ran() });
    await hasRun;
    const [job] = await until('the end of the job', async () => {
      const jobs = await queue.getCompleted();
      return jobs.length > 0 ? jobs : undefined;
    });
    expect(job?.data).toEqual({ because: 'overdue' });
  });

  it('leaves what is not due yet to the schedule', async () => {
    const later = new Date(Date.now() + DAY_MS / 2);
    const daily = `${later.getUTCMinutes()} ${later.getUTCHours()} * * *`;
    let asked = 0;
    const oldest = async () => {
      asked += 1;
      return new Date(Date.now() - 60_000);
    };
    const jobs = start({ oldest }, daily);
    await until('a look at what is queued', () => (asked > 0 ? true : undefined));
    await jobs.close();
    expect(await queue.getJobCounts('waiting', 'active', 'completed', 'delayed')).toEqual({
      waiting: 0,
      active: 0,
      completed: 0,
      delayed: 1,
    });
  });

  it('runs one at a time, however many processes there are, and adds no job next to one that waits', async () => {
    let running = 0;
    let most = 0;
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const run = async () => {
      running += 1;
      most = Math.max(most, running);
      await released;
      running -= 1;
    };
    const [first, second] = [start({ run }), start({ run })];
    await scheduled();
    const active = await first.ask();
    await until('the job to be active', async () =>
      (await first.state(active))?.state === 'active' ? true : undefined,
    );
    const waiting = await second.ask();
    expect(waiting).not.toBe(active);
    expect(await first.ask()).toBe(waiting);
    expect(await first.state(waiting)).toEqual({ state: 'waiting', reason: undefined });
    release();
    expect(await ended(first, waiting)).toMatchObject({ state: 'completed' });
    expect(most).toBe(1);
  });

  it('hands its job back when the process ends, and another one continues it', async () => {
    const stopped = start({
      run: (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    });
    const jobId = await stopped.ask();
    await until('the job to be active', async () =>
      (await stopped.state(jobId))?.state === 'active' ? true : undefined,
    );
    await stopped.close();
    const next = start({});
    expect(await ended(next, jobId)).toMatchObject({ state: 'completed' });
  });

  it('tries a surprise three times and then says why it gave up', async () => {
    let tries = 0;
    const jobs = start({
      run: async () => {
        tries += 1;
        throw new Error('1 of its ids still have events');
      },
    });
    expect(await ended(jobs, await jobs.ask())).toEqual({
      state: 'failed',
      reason: '1 of its ids still have events',
    });
    expect(tries).toBe(3);
  });

  it('tries again until a database that is away is back', async () => {
    let tries = 0;
    const jobs = start({
      run: async () => {
        tries += 1;
        if (tries < 5) throw new UnavailableError('the database is away');
      },
    });
    const jobId = await jobs.ask();
    const waits = await until('a failed try', async () => {
      const found = await jobs.state(jobId);
      return found?.state === 'retrying' ? found : undefined;
    });
    expect(waits.reason).toBe('the database is away');
    // The next tries come after 1 s, 2 s, 4 s, 8 s: brought forward here.
    const promote = async () => {
      for (const job of await queue.getDelayed()) if (job.id === jobId) await job.promote().catch(() => {});
      return (await jobs.state(jobId))?.state === 'completed' ? true : undefined;
    };
    await until('the job to be done', promote);
    expect(tries).toBe(5);
  });

  it('knows no job of another name than the queue gives', async () => {
    const jobs = start({});
    await scheduled();
    for (const name of ['meta', 'events', '1:logs', 'repeat', '999', '']) {
      expect(await jobs.state(name)).toBeUndefined();
    }
  });

  it('has a readable name on the dashboard', () => {
    expect(getTitle('delete-events', { because: 'asked' })).toBe('delete events · asked for');
    expect(getTitle('delete-events', { because: 'scheduled' })).toBe('delete events · on schedule');
  });
});

describe('without Redis', () => {
  it('says that the queue is away, and can still be closed', async () => {
    const own = await startRedis();
    const jobs = startDeletionJobs({
      redisUrl: own.url,
      schedule: SUNDAYS,
      work: { run: async () => {}, oldest: async () => undefined },
      log: silent,
    });
    await jobs.ask();
    await own.kill9();
    await expect(jobs.ask()).rejects.toThrow(UnavailableError);
    await jobs.close();
    await own.stop();
  });
});
