import { describe, expect, it } from 'vitest';
import { toCoverage } from '../../../src/migrations/schedule/coverage.ts';
import type { ScheduleView } from '../../../src/migrations/schedule/schedules.ts';
import { renderExposition } from '../../../src/server/operations/exposition.ts';
import { renderCoveragePage } from '../../../src/server/operations/pages/render-coverage.ts';
import { renderSchedules } from '../../../src/server/operations/pages/render-schedules.ts';
import { listScheduleMetrics } from '../../../src/server/operations/schedule-metrics.ts';
import { parseExposition } from '../../support/exposition.ts';

const run = {
  due: '2024-03-01T06:00:00.000Z',
  startedAt: '2024-03-01T06:00:01.000Z',
  endedAt: '2024-03-01T06:02:03.500Z',
  succeededAt: '2024-03-01T06:02:03.500Z',
  missed: 2,
  outcome: 'done',
  reason: '',
  files: 3,
  failures: 0,
} as const;
const daily: ScheduleView = {
  migration: 'shop',
  state: 'active',
  reason: '',
  cron: '0 6 * * *',
  timezone: 'Europe/Berlin',
  lagMinutes: 1,
  next: '2024-03-02T05:00:00.000Z',
  lastRun: run,
};
const failing: ScheduleView = {
  ...daily,
  migration: 'late',
  overdueSince: '2024-03-01T05:00:00.000Z',
  lastRun: { ...run, missed: 0, files: 0, outcome: 'failed', reason: 'a <b> is gone', failures: 3 },
};
const fresh: ScheduleView = {
  migration: 'fresh',
  state: 'paused',
  reason: '',
  cron: '0 6 * * *',
  timezone: 'UTC',
  lagMinutes: 1,
};
const damaged: ScheduleView = { ...fresh, migration: 'broken', state: 'damaged', reason: 'not written here' };

/** Without tags and runs of blanks. */
const toText = (markup: string) => markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const renderRows = async (...all: ScheduleView[]) =>
  String(await renderSchedules(all, new Set(['shop', 'late']))['schedules'])
    .split('<tr>')
    .slice(2);

describe('the schedules on the first page', () => {
  it('have their next and last run, what it came to, and the way to their coverage', async () => {
    const [row = ''] = await renderRows(daily);
    expect(row).toContain('href="/migrations/shop"');
    expect(row).toContain('href="/migrations/shop/coverage"');
    expect(toText(row)).toContain(
      '0 6 * * * Europe/Berlin 2024-03-02 05:00:00 2024-03-01 06:02:03 done 3 new files; 2 missed before',
    );
  });

  it('say that a run is due, how often it has failed, and when it last succeeded', async () => {
    const [row = ''] = await renderRows(failing);
    expect(toText(row)).toContain('due since 2024-03-01 05:00:00');
    expect(toText(row)).toContain('failed 3 failures in a row; last success 2024-03-01 06:02:03');
    expect(row).toContain('a &lt;b&gt; is gone');
  });

  it('say since when a run is under way that is due', async () => {
    const [row = ''] = await renderRows({ ...failing, runningSince: '2024-03-01T05:00:02.000Z' });
    expect(toText(row)).toContain('running since 2024-03-01 05:00:02');
    expect(row).not.toContain('due since');
    expect(toText(row)).toContain('before: failed');
    expect(row).not.toContain('is gone');
  });

  it('lead to no page of a migration that has not begun', async () => {
    const [row = '', other = ''] = await renderRows(fresh, damaged);
    expect(row + other).not.toContain('href');
    expect(toText(row)).toMatch(/fresh paused .* none yet/);
    expect(toText(other)).toMatch(/broken damaged .* not written here/);
  });

  it('say how to begin where there is none', async () => {
    expect(String(await renderSchedules([], new Set())['schedules'])).toContain('backhaul schedule set');
  });
});

it('the coverage of a migration has its days, the newest first, and those that are missing', async () => {
  const counts = (read: number) => ({ read, delivered: read - 1, skipped: 0, duplicate: 0, rejected: 1 });
  const takes = [
    { at: '2024-03-05T06:00:00Z', byDay: new Map([['2024-03-04', counts(1_200)]]) },
    {
      at: '2024-03-06T06:00:00Z',
      byDay: new Map(Object.entries({ '2024-03-01': counts(7), unknown: counts(2) })),
    },
  ];
  const page = String(await renderCoveragePage('shop', toCoverage(takes)));
  // On a phone the head of the table is hidden.
  expect(page).toContain('<td class="n" data-of="delivered">1,199</td>');
  const text = toText(page);
  expect(text).toContain(
    '2024-03-04 1,200 1,199 1 2024-03-05 06:00:00 2024-03-02 to 2024-03-03 0 missing 2024-03-01 7 6 1 7 2024-03-06',
  );
  expect(text).toContain('2 records have no time');
  const nothing = String(await renderCoveragePage('shop', toCoverage([])));
  expect(nothing).toContain('Nothing is imported yet');
});

it('the coverage of a schedule that has not run says so, and leads to no page of a migration', async () => {
  const render = async (schedule: ScheduleView) =>
    String(await renderCoveragePage(schedule.migration, { ...toCoverage([]), schedule }));
  const { lastRun: _, ...waiting } = daily;
  const page = await render(waiting);
  expect(toText(page)).toContain(
    'Nothing is imported yet. The schedule has not run yet. Its next run is at 2024-03-02 05:00:00 UTC.',
  );
  expect(page).not.toContain('href');
  expect(await render(fresh)).toContain('The schedule has not run yet. It is paused.');
  expect(toText(await render(failing))).toContain(
    'The last run of the schedule, at 2024-03-01 06:02:03 UTC, failed: a &lt;b&gt; is gone. It is due since 2024-03-01 05:00:00 UTC',
  );
  expect(await render(damaged)).toContain('The schedule is damaged: not written here');
});

describe('the metrics of schedules', () => {
  const read = (...all: ScheduleView[]) => parseExposition(renderExposition(listScheduleMetrics(all)));
  const ofShop = { migration: 'shop' };

  it('are times in seconds, and failures in a row', () => {
    const metrics = read(daily, failing, fresh, damaged);
    const find = (name: string, migration: string) =>
      metrics
        .get(`backhaul_schedule_${name}`)
        ?.samples.find(({ labels }) => labels['migration'] === migration)?.value;
    expect(find('next_run_timestamp_seconds', 'shop')).toBe(Date.parse('2024-03-02T05:00:00Z') / 1_000);
    expect(find('last_run_timestamp_seconds', 'shop')).toBe(Date.parse('2024-03-01T06:02:03.5Z') / 1_000);
    expect(find('last_success_timestamp_seconds', 'late')).toBe(Date.parse('2024-03-01T06:02:03.5Z') / 1_000);
    expect(find('due_timestamp_seconds', 'late')).toBe(Date.parse('2024-03-01T05:00:00Z') / 1_000);
    expect(find('due_timestamp_seconds', 'shop')).toBeUndefined();
    expect([find('failures', 'shop'), find('failures', 'late'), find('failures', 'fresh')]).toEqual([
      0,
      3,
      undefined,
    ]);
    const states = metrics.get('backhaul_schedule_state')?.samples ?? [];
    expect(states.filter(({ value }) => value === 1).map(({ labels }) => labels)).toEqual(
      expect.arrayContaining([
        { ...ofShop, state: 'active' },
        { migration: 'fresh', state: 'paused' },
        { migration: 'broken', state: 'damaged' },
      ]),
    );
    expect(states).toHaveLength(12);
  });

  it('are of so many schedules at most, those that fail among them', () => {
    const many = Array.from({ length: 300 }, (_, index) => ({ ...daily, migration: `m${index}` }));
    const failures = read(...many, failing).get('backhaul_schedule_failures')?.samples ?? [];
    expect(failures).toHaveLength(200);
    expect(failures).toContainEqual({ labels: { migration: 'late' }, value: 3 });
  });

  it('are none where there are no schedules', () => {
    expect(renderExposition(listScheduleMetrics([]))).toBe('');
  });
});
