import { expect, it } from 'vitest';
import { buildReport } from '../../../src/migrations/report/build-report.ts';
import type { MigrationStatus } from '../../../src/migrations/status/view.ts';
import { MAX_MIGRATIONS, renderMetrics } from '../../../src/server/operations/metrics.ts';
import { renderErrors } from '../../../src/server/operations/pages/render-errors.ts';
import { renderMigration } from '../../../src/server/operations/pages/render-migration.ts';
import { renderPlan } from '../../../src/server/operations/pages/render-plan.ts';
import { toRates } from '../../../src/server/operations/pages/render-throughput.ts';
import { renderVerification } from '../../../src/server/operations/pages/render-verification.ts';
import { finishedInput } from '../../migrations/report/sample-receipts.ts';
import { createRunningView, createStoppedView } from './rich-view.ts';

it('compares whole minutes with the budget, whatever bursts a run sends in', () => {
  const burst = [10_000, 0, 0, 0, 0, 0];
  const events = [...burst, ...burst, 700];
  expect(toRates({ fromMs: 60_000, stepMs: 10_000, events })).toEqual([
    { atMs: 60_000, eventsPerMinute: 10_000 },
    { atMs: 120_000, eventsPerMinute: 10_000 },
  ]);
  expect(toRates({ fromMs: 0, stepMs: 10_000, events: [5, 5] })).toEqual([]);
  // Of a run that is over nothing more comes.
  expect(toRates({ fromMs: 0, stepMs: 10_000, events: [5, 5] }, true)).toEqual([
    { atMs: 0, eventsPerMinute: 10 },
  ]);
});

it('takes wider intervals as they are', () => {
  expect(toRates({ fromMs: 0, stepMs: 120_000, events: [20, 30, 1] })).toEqual([
    { atMs: 0, eventsPerMinute: 10 },
    { atMs: 120_000, eventsPerMinute: 15 },
  ]);
});

it('bounds the migrations among the metrics, keeps those that run, and escapes labels', () => {
  const status = (migration: string, state: MigrationStatus['state'], since: string): MigrationStatus => ({
    migration,
    state,
    reason: '',
    createdAt: since,
    since,
    destination: 'bundled API',
    parts: { done: 0, staged: 0 },
    records: { staged: 0 },
    counts: { read: 0, delivered: 0, skipped: 0, duplicate: 0, rejected: 0 },
    events: 0,
    bytes: { source: 0, staged: 0, imported: 0 },
  });
  const many = Array.from({ length: MAX_MIGRATIONS + 5 }, (_, index) =>
    status(`m${index}`, 'finished', '2024-01-02'),
  );
  const migrations = [...many, status('a"\\\n', 'running', '2024-01-01')];
  const text = renderMetrics({ migrations, schedules: [], queues: undefined });
  expect(text.match(/^backhaul_migration_source_bytes\{/gm)).toHaveLength(MAX_MIGRATIONS);
  expect(text).toContain('backhaul_migration_source_bytes{migration="a\\"\\\\\\n"} 0\n');
  expect(text).toContain('backhaul_redis_up 0\n');
});

const toText = async (html: ReturnType<typeof renderPlan>) =>
  String(await html)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

it('says once why a migration stopped', async () => {
  const view = createStoppedView();
  const shown = renderMigration(view, { token: undefined });
  expect(view.reason).toContain('1 failed for good');
  expect(String(await shown['state'])).toContain(view.reason);
  const history = String(await shown['history']);
  expect(history).not.toContain(view.reason);
  expect(history).toContain('the destination does not accept the project API key');
});

it('shows of a removed migration what remains, and no progress', async () => {
  const { report: _, reasons, ...rest } = createStoppedView();
  const view = { ...rest, reasons, state: 'removed' } as const;
  const show = async (of: typeof view, name: string) =>
    String(await renderMigration(of, { token: undefined })[name]);
  expect(await show(view, 'figures')).not.toMatch(/<progress|staged|Parts/);
  expect(await show(view, 'reasons')).not.toContain('backhaul rejects ls');
  const samples = [{ place: 'a.json, line 1', detail: '', text: '{}' }];
  const kept = reasons.map((reason) => ({ ...reason, samples }));
  expect(await show({ ...view, reasons: kept }, 'reasons')).toContain('backhaul rejects ls');
  expect(await show(view, 'verification')).toContain('removed before it had a report');
  const { throughput: __, ...unmeasured } = view;
  expect(await show(unmeasured, 'throughput')).toContain('Not kept of a migration that was removed');
});

it('says what a migration was asked to do', async () => {
  const plan = await toText(renderPlan(createRunningView()));
  expect(plan).toContain('Source amplitude, 12 files of 1.4 GiB');
  expect(plan).toContain('from 2020-01-01 00:00:00, before 2024-01-01 00:00:00 UTC');
  expect(plan).toContain('10,000 events a minute; 36 min for the records that are staged');
});

it('says whether the books balance, what is not counted, and how to compare', async () => {
  const report = { ...buildReport(finishedInput()), stamps: { $import_job_id: 'shop' } };
  const finished = await toText(renderVerification({ ...createStoppedView(), report }));
  expect(finished).toContain(' balanced Read = delivered + skipped + duplicate + rejected');
  expect(finished).toContain(
    `the destination has ${report.events.accepted + report.events.synthetic} distinct events with $import_job_id = shop`.replace(
      '1209',
      '1,209',
    ),
  );
  expect(finished).toContain('different: nothing explains 1 row Compared at');
  expect(finished).toContain(
    'The report against the destination: 249,970 and 249,971 events (+1 UNEXPLAINED).',
  );
  expect(finished).toContain('… and 3 more that differ. To compare again: backhaul verify shop');
  const { verification: _, ...unverified } = createStoppedView();
  expect(await toText(renderVerification({ ...unverified, report }))).toContain(
    'Not compared with the destination yet. To compare now: backhaul verify shop',
  );
  const open = {
    ...report,
    balanced: false,
    problems: ['one is missing'],
    repeats: { counted: false, partsWithout: 0 },
  };
  const stopped = await toText(renderVerification({ ...createStoppedView(), report: open }));
  for (const text of ['not balanced', 'one is missing', 'Repeats over all parts are not counted yet'])
    expect(stopped).toContain(text);
});

it('shows what failed and what stopped runs, and says when nothing did', async () => {
  const errors = await toText(renderErrors(createStoppedView()));
  expect(errors).toMatch(/failed import-part .*damaged.* stopped 2024-05-01 .* paused .*API key/);
  expect(errors).not.toContain('asked for');
  expect(await toText(renderErrors({ ...createRunningView(), errors: [] }))).toContain('Nothing has stopped');
});

it('does not say that nothing was skipped while the first part is under way', async () => {
  const view = { ...createRunningView(), reasons: [] };
  const none = { ...view, counts: { ...view.counts, skipped: 0, duplicate: 0, rejected: 0 } };
  const show = async (of: typeof view) => String(await renderMigration(of, { token: undefined })['reasons']);
  expect(await show(view)).toContain('Shown by reason once a part is done.');
  expect(await show(none)).toContain('Nothing was skipped or rejected so far.');
});

it('writes so few times below the throughput that they do not run into one another', async () => {
  const throughput = { fromMs: 0, stepMs: 60_000, events: Array.from({ length: 14 }, () => 1) };
  const view = { ...createRunningView(), throughput };
  const plot = String(await renderMigration(view, { token: undefined })['throughput']);
  expect(plot.match(/y="17"/g)?.length).toBe(5);
});
