import { describe, expect, it } from 'vitest';
import { bar, duration, renderStatus } from '../../../src/cli/render/render-status.ts';
import { zeroCounts } from '../../../src/contract/counts.ts';
import type { RunStatus } from '../../../src/migrations/run/run-status.ts';

const status = (more: Partial<RunStatus>): RunStatus => ({
  phase: 'import',
  files: { staged: 1, total: 1 },
  parts: { done: 2, known: 5 },
  counts: { ...zeroCounts(), read: 2_500, delivered: 2_490, rejected: 10 },
  staged: 10_000,
  events: 0,
  personJobs: { done: 0, total: 0 },
  countedParts: 0,
  waitingFor: undefined,
  speed: { recordsPerSecond: 2_000, secondsLeft: 3.75, heldByBudget: false },
  ...more,
});

describe('the status line', () => {
  it('names what is waited for in place of a speed that stands still', () => {
    expect(renderStatus(status({ phase: 'count', countedParts: 1 }), 120)).toBe(
      'count    ████░░░░░░░░░░░░░░░░░░░░  20% events counted, nothing is sent yet',
    );
    expect(renderStatus(status({ waitingFor: 'Redis: OOM command not allowed' }), 120)).toBe(
      'import   waiting for Redis: OOM command not allowed',
    );
  });

  it('shows share, time left, rejects, speed, files and parts', () => {
    expect(renderStatus(status({}), 130)).toBe(
      'import   ██████░░░░░░░░░░░░░░░░░░  25% 2,500/10,000 records · 4 s left · 10 rejected · 2,000/s · files 1/1 · parts 2/5',
    );
  });

  it('drops the bar before any number, then what matters less', () => {
    expect(renderStatus(status({}), 100)).toBe(
      'import    25% 2,500/10,000 records · 4 s left · 10 rejected · 2,000/s · files 1/1 · parts 2/5',
    );
    expect(renderStatus(status({}), 80)).toBe(
      'import    25% 2,500/10,000 records · 4 s left · 10 rejected · 2,000/s',
    );
    expect(renderStatus(status({}), 46)).toBe('import    25% 2,500/10,000 records · 4 s left');
  });

  it('fits any width in any phase', () => {
    for (const phase of ['stage', 'count', 'import', 'people', 'report'] as const) {
      for (const waitingFor of [undefined, 'Redis: OOM command not allowed']) {
        for (let columns = 1; columns < 140; columns += 1) {
          expect(renderStatus(status({ phase, waitingFor }), columns).length).toBeLessThanOrEqual(columns);
        }
      }
    }
  });

  it('promises no end while it is not known', () => {
    const speed = { recordsPerSecond: 2_500, secondsLeft: undefined, heldByBudget: false };
    const line = renderStatus(status({ files: { staged: 0, total: 3 }, speed }), 120);
    expect(line).toContain('2,500/10,000+ records');
    expect(line).not.toContain('left');
  });

  it('stays within its bar whatever the counts', () => {
    expect(bar(0, 0)).toMatch(/^░{24} {3}0%$/);
    expect(bar(7, 5)).toMatch(/^█{24} 100%$/);
  });

  it('tells times as people do', () => {
    expect([59.4, 61, 3_600, 90_061].map(duration)).toEqual(['59 s', '1 min 1 s', '1 h 0 min', '25 h 1 min']);
  });
});
