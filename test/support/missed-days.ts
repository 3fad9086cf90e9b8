import { expect } from 'vitest';
import { loadManifest } from '../../config/manifest/load-manifest.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { setSchedule } from '../../src/migrations/schedule/schedules.ts';
import { loadLastRun } from '../../src/state/schedules/runs.ts';
import { runBackhaul, startBackhaul } from './backhaul-process.ts';
import { line } from './migration-lab.ts';
import type { StrictDestination } from './strict-destination.ts';
import { until } from './until.ts';
import type { Workplace } from './workplace.ts';

const DAY_MS = 24 * 3_600_000;
const NAME = 'daily';

export interface MissedDays {
  readonly workplace: Workplace;
  /** `KEY` is that of the destination. */
  readonly env: Readonly<Record<string, string>> & { readonly KEY: string };
  /** Data folder of a process: on one machine all have the same. */
  readonly dataDirOf: (process: string) => string;
  readonly staging: Staging;
  readonly destination: StrictDestination;
  /** Where the source lies, for `source.from`. */
  readonly from: string;
  /** Adds a file to the source. */
  readonly write: (file: string, text: string) => Promise<unknown>;
}

/**
 * A schedule that was run once, and then by nobody for three days in which files came, one of them late: two workers
 * that start then catch up, once.
 */
export async function expectCaughtUp({
  workplace,
  env,
  dataDirOf,
  staging,
  destination,
  from,
  write,
}: MissedDays): Promise<void> {
  const path = workplace.manifest({
    name: NAME,
    source: {
      type: 'jsonl',
      from,
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 't' },
        key: ['n'],
      },
    },
    destination: { url: destination.url, apiKey: '${KEY}' },
  });
  const writeDay = (day: number) =>
    write(`${day}.json`, `${line(`s-${day}`, `2024-02-0${day}T04:05:06Z`)}\n`);
  const command = async (...args: string[]) => {
    const ended = await runBackhaul([...args, '--json'], { dataDir: dataDirOf('command'), env });
    expect(ended.code, ended.stderr).toBe(0);
    return JSON.parse(ended.stdout.trimEnd().split('\n').at(-1) ?? '');
  };
  // Nothing is there before the first file.
  await command('schedule', 'set', path, '--cron', '0 0 * * *', '--timezone', 'UTC', '--lag', '0');
  expect(await command('schedule', 'run', NAME)).toMatchObject({ outcome: 'nothing_new', failures: 0 });
  await writeDay(2);
  expect(await command('schedule', 'run', NAME)).toMatchObject({ outcome: 'done', files: 1 });

  // Set three days ago, as nobody can wait so long; since then three files have come.
  const past = () => new Date(Date.now() - 3 * DAY_MS);
  const terms = { cron: '1 0 * * *', timezone: 'UTC', lagMinutes: 0 };
  await command('schedule', 'rm', NAME);
  for (const run of [1, 2]) await staging.remove(`_schedules/${NAME}/runs/0000000${run}.json`);
  await setSchedule({ staging, now: past }, await loadManifest(path, { env }), terms);
  for (const day of [1, 3, 5]) await writeDay(day);
  expect(await command('schedule', 'ls')).toMatchObject([
    { migration: NAME, overdueSince: expect.any(String) },
  ]);

  const workers = [1, 2].map((n) => startBackhaul(['worker'], { dataDir: dataDirOf(`worker-${n}`), env }));
  const { run } = await until('the run', async () => {
    for (const worker of workers) if (!worker.isRunning()) throw new Error(worker.stderr());
    const last = await loadLastRun(staging, NAME);
    return last.run ? last : undefined;
  });
  expect(run).toMatchObject({ outcome: 'done', files: 3, missed: 2 });
  const days = [...destination.events().values()].map(({ timestamp }) => timestamp.slice(0, 10));
  expect(days.sort()).toEqual(['2024-02-01', '2024-02-02', '2024-02-03', '2024-02-05']);
  expect(destination.requests.reduce((sum, { events }) => sum + events, 0)).toBe(4);
  expect(await command('schedule', 'ls')).toMatchObject([{ migration: NAME, lastRun: { files: 3 } }]);
  expect(await command('schedule', 'coverage', NAME)).toMatchObject({
    days: [
      { day: '2024-02-01', late: 1 },
      { day: '2024-02-02' },
      { day: '2024-02-03' },
      { day: '2024-02-05' },
    ],
    missing: [{ from: '2024-02-04', to: '2024-02-04' }],
  });
  for (const worker of workers) worker.kill('SIGTERM');
  for (const { code, stderr } of await Promise.all(workers.map(({ ended }) => ended)))
    expect(code, stderr).toBe(0);
}
