import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { mapped, rejected } from '../../../src/contract/outcome.ts';
import type { Slice } from '../../../src/contract/slice.ts';
import { UnavailableError } from '../../../src/lib/errors.ts';
import { loadReport } from '../../../src/migrations/report.ts';
import { loadCoverage } from '../../../src/migrations/schedule/coverage.ts';
import { runSchedule } from '../../../src/migrations/schedule/run-schedule.ts';
import { setSchedule } from '../../../src/migrations/schedule/schedules.ts';
import { timezone } from '../../../src/sources/common-options.ts';
import { createFileId } from '../../../src/sources/files/source-file.ts';
import type { RecordChunk } from '../../../src/sources/formats/read-records.ts';
import { createEventId } from '../../../src/sources/mapping/event-id.ts';
import { SOURCE_TYPES } from '../../../src/sources/registry.ts';
import type { MapRecord, SourceType } from '../../../src/sources/source.ts';
import { type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';

/**
 * A vendor with an API and no files. Its days may still grow when they have ended: the source takes a day once it is
 * `lagDays` old, and reads it again on each of the `rereadDays` after that, as slices of their own.
 */
const DAY_MS = 24 * 3_600_000;
const NOON = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS + DAY_MS / 2;
let now = NOON;
const toDay = (days: number) => new Date(NOON + days * DAY_MS).toISOString().slice(0, 10);

const api = { days: new Map<string, string[]>(), isDown: false };
const addVisit = (days: number, who: string) => {
  const day = toDay(days);
  const visits = api.days.get(day) ?? [];
  visits.push(JSON.stringify({ who, what: 'visited', at: `${day}T10:00:00.000Z` }));
  api.days.set(day, visits);
};

const block = z.strictObject({
  type: z.literal('visits_api'),
  timezone,
  since: z.string(),
  lagDays: z.number(),
  rereadDays: z.number(),
});

const mapVisit: MapRecord = ({ who, what, at }) =>
  typeof who === 'string' && typeof what === 'string' && typeof at === 'string'
    ? mapped([
        {
          event: what,
          uuid: createEventId(['visits', who, at]),
          timestamp: at,
          properties: { distinct_id: who },
        },
      ])
    : rejected('bad_field', 'a visit has who, what and at');

function listWindows({ since, lagDays, rereadDays }: z.infer<typeof block>): string[] {
  const windows: string[] = [];
  for (let start = Date.parse(since); start + (1 + lagDays) * DAY_MS <= now; start += DAY_MS)
    for (let again = 0; again <= rereadDays; again += 1)
      if (start + (1 + lagDays + again) * DAY_MS <= now)
        windows.push(`visits ${new Date(start).toISOString().slice(0, 10)} ${again}`);
  return windows;
}

const visitsApi: SourceType = {
  type: 'visits_api',
  versions: [1],
  block,
  knownFields: () => new Set(['who', 'what', 'at']),
  exportName: 'Visits API',
  docs: { reads: 'its API', notes: 'a day a window' },
  example: 'examples/visits.yaml',
  bind: (given) => ({
    createMap: () => mapVisit,
    checksHeaders: false,
    async discover() {
      if (api.isDown) throw new UnavailableError('the API of visits does not answer');
      return listWindows(block.parse(given)).map(
        (name): Slice => ({ fileId: createFileId(name), name, bytes: 0, modified: '', location: 'shared' }),
      );
    },
    async *open({ name }, _context, onBytes): AsyncGenerator<RecordChunk> {
      for (const [index, text] of (api.days.get(name.split(' ')[1] ?? '') ?? []).entries()) {
        const bytes = Buffer.from(text);
        onBytes(bytes);
        const record = { kind: 'record', member: undefined, line: index + 1, bytes } as const;
        yield { format: { kind: 'json' }, header: undefined, records: [record] };
      }
    },
  }),
};

const types = SOURCE_TYPES as SourceType[];
let lab: MigrationLab;
beforeAll(async () => {
  types.push(visitsApi);
  lab = await openMigrationLab();
});
afterAll(async () => {
  // Other files of tests share the registry.
  types.splice(types.indexOf(visitsApi), 1);
  await lab?.close();
});

it('a source that is an API is caught up after three days, with what came late, without gaps or repeats', async () => {
  const runtime = { ...lab.runtime, now: () => new Date(now) };
  const { manifest } = await lab.writeManifest('visits', {
    source: { type: 'visits_api', since: toDay(-2), lagDays: 1, rereadDays: 2 },
  });
  // No process needs the folder of the manifest: nothing of this source lies there.
  const daily = { cron: '0 6 * * *', timezone: 'UTC', lagMinutes: 60 };
  await setSchedule(runtime, { manifest, baseDir: '/nowhere/at/all' }, daily);
  const run = async (more: object = {}) => {
    const options = { signal: new AbortController().signal, importHere: true, ...more };
    return runSchedule(runtime, 'visits', options);
  };
  const to = (days: number) => {
    now = NOON + days * DAY_MS;
  };
  const listArrived = () =>
    [...lab.destination.events().values()]
      .filter(({ event }) => event === 'visited')
      .map(({ distinctId, timestamp }) => `${timestamp.slice(0, 10)} ${distinctId}`)
      .sort();

  for (const day of [-2, -1, 0, 1]) for (const who of ['ada', 'bob']) addVisit(day, `${who}-${day}`);
  to(1);
  expect(await run()).toMatchObject({ run: { outcome: 'done', files: 3, missed: 0 } });
  // Today and the day before are not a day old yet.
  expect(listArrived()).toEqual(
    [-2, -1].flatMap((day) => [`ada-${day}`, `bob-${day}`].map((who) => `${toDay(day)} ${who}`)),
  );

  // For three days there was no process, then the API was down. Meanwhile a visit came late, to a day that is in.
  addVisit(-1, 'late--1');
  for (const day of [2, 3, 4, 5, 6]) addVisit(day, `ada-${day}`);
  api.isDown = true;
  to(5);
  expect(await run()).toMatchObject({
    run: { outcome: 'failed', missed: 3, failures: 1, reason: expect.stringContaining('does not answer') },
  });
  api.isDown = false;
  to(6);
  const caughtUp = await run();
  expect(caughtUp).toMatchObject({ run: { outcome: 'done', missed: 0, failures: 0, files: 15 } });

  const expected = [...api.days]
    .filter(([day]) => day <= toDay(4))
    .flatMap(([day, visits]) => visits.map((visit) => `${day} ${JSON.parse(visit).who}`));
  expect(listArrived()).toEqual(expected.sort());
  expect(lab.destination.conflicts).toEqual([]);
  // What a day had already when it was read again is counted as such.
  expect(caughtUp).toMatchObject({
    result: {
      kind: 'finished',
      report: { counts: { delivered: expected.length, rejected: 0 }, balanced: true },
    },
  });

  const coverage = await loadCoverage(runtime, 'visits');
  expect(coverage.days.map(({ day }) => day)).toEqual([-2, -1, 0, 1, 2, 3, 4].map(toDay));
  expect(coverage).toMatchObject({ missing: [], undated: 0 });
  // A day that was read again counts what it had already as repeated, there as here.
  const { byDay } = await loadReport(runtime, 'visits');
  expect(Object.fromEntries(coverage.days.map(({ day, counts }) => [day, counts]))).toEqual(byDay);
  expect(coverage.days.reduce((sum, { counts }) => sum + counts.delivered, 0)).toBe(expected.length);
  expect(byDay[toDay(-1)]?.duplicate).toBeGreaterThanOrEqual(2);

  expect(await run({ now: true })).toMatchObject({ run: { outcome: 'nothing_new', files: 0 } });
  expect(listArrived()).toEqual(expected);
});
