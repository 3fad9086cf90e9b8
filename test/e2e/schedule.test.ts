import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { loadManifest } from '../../config/manifest/load-manifest.ts';
import { setSchedule } from '../../src/migrations/schedule/schedules.ts';
import { loadLastRun } from '../../src/state/schedules/runs.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { killAllBackhaul, runBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { line } from '../support/migration-lab.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type StrictDestination, startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

const KEY = 'phc_schedule';
const DAY_MS = 24 * 3_600_000;

let workplace: Workplace;
let server: TestRedis;
let destination: StrictDestination;
beforeAll(async () => {
  workplace = createWorkplace();
  server = await startRedis();
  destination = await startStrictDestination({ apiKey: KEY });
}, 300_000);
afterEach(killAllBackhaul);
afterAll(async () => {
  await destination?.stop();
  await server?.stop();
  await workplace?.remove();
});

it('workers catch up the days on which none was there, once, and the command line says so', async () => {
  const dataDir = workplace.dataDir('schedule');
  const env = { KEY, REDIS_URL: server.url };
  const folder = join(workplace.folder, 'daily');
  mkdirSync(folder);
  const write = (day: number) =>
    writeFileSync(join(folder, `${day}.json`), `${line(`s-${day}`, `2024-02-0${day}T04:05:06Z`)}\n`);
  const path = workplace.manifest({
    name: 'daily',
    source: {
      type: 'jsonl',
      from: 'daily/*.json',
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 't' },
        key: ['n'],
      },
    },
    destination: { url: destination.url, apiKey: '${KEY}' },
  });
  write(1);
  const command = async (...args: string[]) => {
    const ended = await runBackhaul([...args, '--json'], { dataDir, env });
    expect(ended.code, ended.stderr).toBe(0);
    return JSON.parse(ended.stdout.trimEnd().split('\n').at(-1) ?? '');
  };
  await command('schedule', 'set', path, '--cron', '0 0 * * *', '--timezone', 'UTC', '--lag', '0');
  expect(await command('schedule', 'run', 'daily')).toMatchObject({ outcome: 'done', files: 1 });

  // Set three days ago, as nobody can wait so long; since then three files have come.
  const staging = createFolderStaging(join(dataDir, 'staging'));
  const past = () => new Date(Date.now() - 3 * DAY_MS);
  const terms = { cron: '1 0 * * *', timezone: 'UTC', lagMinutes: 0 };
  await command('schedule', 'rm', 'daily');
  await staging.remove('_schedules/daily/runs/00000001.json');
  await setSchedule({ staging, now: past }, await loadManifest(path, { env: { KEY } }), terms);
  for (const day of [2, 3, 5]) write(day);
  expect(await command('schedule', 'ls')).toMatchObject([
    { migration: 'daily', overdueSince: expect.any(String) },
  ]);

  const workers = [1, 2].map(() => startBackhaul(['worker'], { dataDir, env }));
  const { run } = await until('the run', async () => {
    for (const worker of workers) if (!worker.isRunning()) throw new Error(worker.stderr());
    const last = await loadLastRun(staging, 'daily');
    return last.run ? last : undefined;
  });
  expect(run).toMatchObject({ outcome: 'done', files: 3, missed: 2 });
  expect([...destination.events().values()].map(({ timestamp }) => timestamp.slice(0, 10)).sort()).toEqual([
    '2024-02-01',
    '2024-02-02',
    '2024-02-03',
    '2024-02-05',
  ]);
  expect(destination.requests.reduce((sum, { events }) => sum + events, 0)).toBe(4);
  expect(await command('schedule', 'ls')).toMatchObject([{ migration: 'daily', lastRun: { files: 3 } }]);
  expect(await command('schedule', 'coverage', 'daily')).toMatchObject({
    missing: [{ from: '2024-02-04', to: '2024-02-04' }],
  });
  for (const worker of workers) worker.kill('SIGTERM');
  for (const { code, stderr } of await Promise.all(workers.map(({ ended }) => ended)))
    expect(code, stderr).toBe(0);
}, 120_000);
