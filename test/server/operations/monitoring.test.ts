import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadSettings } from '../../../config/load-settings.ts';
import type { ScheduleView } from '../../../src/migrations/schedule/schedules.ts';
import { toDamagedStatus } from '../../../src/migrations/status/view.ts';
import { renderMetrics } from '../../../src/server/operations/metrics.ts';
import { parseExposition } from '../../support/exposition.ts';

/** The dashboard and the alert rules of deploy/monitoring, against the metrics that exist. */

const read = (file: string) => readFileSync(`deploy/monitoring/${file}`, 'utf8');

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard: { panels: readonly Panel[] } = JSON.parse(read('grafana-dashboard.json'));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}
const rules: readonly Rule[] = parse(read('alerts.yml')).groups.flatMap(
  ({ rules: of }: { rules: Rule[] }) => of,
);

const run = { phase: 'import', recordsPerSecond: 1, secondsLeft: 60 } as const;
const status = { ...toDamagedStatus('shop', ''), state: 'running', run } as const;
const queues = [{ queue: 'import-part', waiting: 0, active: 0, failed: 0 }];
const schedule: ScheduleView = {
  migration: 'shop',
  state: 'active',
  reason: '',
  cron: '0 6 * * *',
  timezone: 'UTC',
  lagMinutes: 1,
  next: '2024-03-03T06:00:00.000Z',
  overdueSince: '2024-03-02T06:00:00.000Z',
  lastRun: {
    due: '2024-03-01T06:00:00.000Z',
    startedAt: '2024-03-01T06:00:00.000Z',
    endedAt: '2024-03-01T06:01:00.000Z',
    succeededAt: '2024-02-29T06:01:00.000Z',
    missed: 0,
    outcome: 'failed',
    reason: 'the folder is gone',
    files: 0,
    failures: 1,
  },
};
const metrics = parseExposition(renderMetrics({ migrations: [status], schedules: [schedule], queues }));
/** By metric, by label: the values that it has. */
const labels = new Map(
  [...metrics].map(([name, { samples }]) => {
    const values = new Map<string, Set<string>>();
    for (const sample of samples)
      for (const [label, value] of Object.entries(sample.labels))
        values.set(label, (values.get(label) ?? new Set()).add(value));
    return [name, values];
  }),
);

const expressions: readonly (readonly [string, string])[] = [
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
];

it.each(expressions)('%s asks for metrics, labels and values that there are', (_, expression) => {
  const selectors = [...expression.matchAll(/\b((?:backhaul_|up\b)\w*)(?:\{([^}]*)\})?/g)];
  expect(selectors.length).toBeGreaterThan(0);
  for (const [, name = '', matchers = ''] of selectors) {
    if (name === 'up') continue; // Prometheus itself writes it
    const known = labels.get(name);
    expect(known, name).toBeDefined();
    for (const [, label = '', operator = '', value = ''] of matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)) {
      const values = known?.get(label);
      expect(values, `${name}{${label}}`).toBeDefined();
      if (value === '$migration') continue;
      for (const one of operator === '=~' ? value.split('|') : [value]) expect(values).toContain(one);
    }
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g))
    for (const label of list.split(', '))
      expect(
        selectors.some(([, name = '']) => labels.get(name)?.has(label)),
        label,
      ).toBe(true);
  for (const [open, close] of ['()', '{}', '[]']) {
    const count = (character = '') => expression.split(character).length;
    expect(count(open)).toBe(count(close));
  }
});

it('every metric is on the dashboard', () => {
  const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
  for (const name of metrics.keys()) expect(shown).toMatch(new RegExp(`\\b${name}\\b`));
});

it('no panel lies on another, and each names its series by labels that there are', () => {
  const cells = new Set<string>();
  for (const { gridPos, title, targets } of dashboard.panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(cells.has(`${x} ${y}`), title).toBe(false);
        cells.add(`${x} ${y}`);
      }
    for (const { expr, legendFormat } of targets)
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        expect([...metrics.keys()].some((name) => expr.includes(name) && labels.get(name)?.has(label))).toBe(
          true,
        );
  }
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

describe.each(rules)('$alert', ({ for: wait, labels: { severity }, annotations }) => {
  it('says what is wrong and what to do', () => {
    expect(['warning', 'critical']).toContain(severity);
    expect(wait ?? '0m').toMatch(/^\d+m$/);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.description.length).toBeGreaterThan(40);
  });
});

it('every state that needs somebody has an alert', () => {
  const alerted = rules.map(({ expr }) => expr).join('\n');
  for (const state of ['paused', 'interrupted', 'stopped', 'damaged']) expect(alerted).toContain(state);
  expect(alerted).toContain('backhaul_schedule_state{state="damaged"}');
});

it('the scrape is of the port of docker-compose.yml and the user that the server has by default', () => {
  const [scrape] = parse(read('prometheus.yml')).scrape_configs;
  const settings = loadSettings({});
  const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
  expect(scrape).toMatchObject({
    job_name: 'backhaul', // as the alert rules say
    metrics_path: '/metrics',
    basic_auth: { username: settings.queues.user },
    static_configs: [{ targets: [`127.0.0.1:${compose.services.api.environment.BACKHAUL_PORT}`] }],
  });
});
