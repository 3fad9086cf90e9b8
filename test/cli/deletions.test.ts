import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DELETION_JOB, QUEUE_PREFIX } from '../../jobs/catalog.ts';
import {
  killAllBackhaul,
  readPid,
  runBackhaul,
  startBackhaul,
  waitForServices,
} from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { readyDataDir } from '../support/ready-data-dir.ts';
import { until } from '../support/until.ts';

let dataDir: string;
let services: Awaited<ReturnType<typeof waitForServices>>;
const backhaul = (...args: string[]) => runBackhaul(args, { dataDir });

beforeAll(async () => {
  dataDir = await readyDataDir(await mkdtemp(join(tmpdir(), 'backhaul-deletions-')));
  services = await waitForServices(dataDir, startBackhaul(['serve'], { dataDir }));
}, 300_000);
afterAll(async () => {
  await killAllBackhaul();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const { url = '', personalKey = '' } = services.api ?? {};
  const headers = { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

const send = (distinctId: string, count: number) =>
  call('/batch/', {
    method: 'POST',
    body: JSON.stringify({
      api_key: services.api?.projectKey,
      historical_migration: true,
      batch: Array.from({ length: count }, () => ({
        uuid: randomUUID(),
        event: distinctId,
        timestamp: '2024-01-01T00:00:00Z',
        properties: { distinct_id: distinctId },
      })),
    }),
  });

async function remove(distinctId: string): Promise<void> {
  const found = await call<{ results: { id: number }[] }>(
    `/api/projects/@current/persons/?distinct_id=${distinctId}`,
  );
  await call(`/api/projects/@current/persons/${found.results[0]?.id}/?delete_events=true`, {
    method: 'DELETE',
  });
}

const countOf = async (event: string) => {
  const counts = await call<{ results: { event: string; count: number }[] }>(
    '/api/projects/@current/event_counts/',
  );
  return counts.results.find((each) => each.event === event)?.count ?? 0;
};

interface Listed {
  count: number;
  results: { state: string; deleted_events: number }[];
}
const newest = async () => (await call<Listed>('/api/deletions/?limit=1')).results[0];

describe('deletions on the command line', () => {
  it('are listed, and run ahead of their time to the end', async () => {
    await send('ada', 20);
    await send('bob', 3);
    await remove('ada');
    const queued = JSON.parse((await backhaul('deletions', 'ls', '--state', 'open', '--json')).stdout);
    expect(queued).toMatchObject({ count: 1, results: [{ state: 'queued', deleted_events: 0 }] });

    const ended = await backhaul('deletions', 'run', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      state: 'completed',
      verified: 1,
      deleted_events: 20,
      open: 0,
    });
    expect([await countOf('ada'), await countOf('bob')]).toEqual([0, 3]);

    const listed = await backhaul('deletions', 'ls');
    expect(listed.stdout).toMatch(/\n +1 +verified .* 1 +20$/m);
  }, 120_000);

  it('run on when the one who asked does not want to watch any more', async () => {
    await send('carl', 2);
    await remove('carl');
    const queue = new Queue(DELETION_JOB, {
      connection: { url: services.redisUrl },
      prefix: QUEUE_PREFIX,
    });
    await queue.pause();
    const watching = startBackhaul(['deletions', 'run'], { dataDir });
    await until('the watching to begin', () => (/waiting/.test(watching.stderr()) ? true : undefined));
    watching.kill('SIGINT');
    const ended = await watching.ended;
    expect(ended.code, ended.stderr).toBe(5);
    expect(ended.stderr).toContain('the API still runs the job');
    expect((await newest())?.state).toBe('queued');

    await queue.resume();
    await until('the end of the deletion', async () =>
      (await newest())?.state === 'verified' ? true : undefined,
    );
    expect(await countOf('carl')).toBe(0);
    await queue.close();
  }, 120_000);

  // In npm test: 'can be stopped after any batch' of test/server/deletions/run-deletions.test.ts, and
  // 'hands its job back' of test/jobs/delete-events.test.ts.
  it.runIf(ALL)(
    'continue where they were when the API is killed in the middle, and count every event once',
    async () => {
      // So many that they are not all deleted between two looks.
      const total = 60_000;
      await send('frank', 3);
      for (let sent = 0; sent < total; sent += 5_000) await send('dora', 5_000);
      await remove('dora');
      const run = startBackhaul(['deletions', 'run', '--json'], { dataDir });
      const begun = await until('its begin', async () => {
        const one = await newest();
        return one && one.state !== 'queued' ? one : undefined;
      });
      expect(begun.state).toBe('started');
      const pid = readPid(dataDir, 'api');
      if (pid === undefined) throw new Error('no API runs');
      process.kill(pid, 'SIGKILL');
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(0);
      expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'completed', verified: 1, open: 0 });
      expect(await newest()).toMatchObject({ state: 'verified', deleted_events: total });
      expect([await countOf('dora'), await countOf('frank')]).toEqual([0, 3]);
    },
    300_000,
  );

  it.each([
    [['ls', '--limit', '0'], '--limit takes a whole number'],
    [['ls', '--state', 'gone'], '"gone" is not a valid choice'],
  ])('refuse %j with 2', async (args, message) => {
    const ended = await backhaul('deletions', ...args);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(message);
  });
});

describe('without a running API', () => {
  it('deletions are run by the one that the command starts', async () => {
    await send('eve', 2);
    await remove('eve');
    // What SIGKILL leaves of the data folder's owner is what a power cut leaves.
    await killAllBackhaul();
    const ended = await backhaul('deletions', 'run');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toBe('Deletions verified: 1. Events deleted: 2.\n');
  }, 120_000);
});
