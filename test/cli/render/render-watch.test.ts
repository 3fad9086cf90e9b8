import { expect, it } from 'vitest';
import { renderWatch, renderWatchEnd } from '../../../src/cli/render/render-watch.ts';
import type { MigrationStatus } from '../../../src/migrations/status/view.ts';

const finished: MigrationStatus = {
  migration: 'shop',
  state: 'finished',
  reason: '',
  createdAt: '',
  since: '',
  destination: 'bundled API',
  parts: { done: 1, staged: 1 },
  records: { staged: 20_000 },
  counts: { read: 12_345, delivered: 12_345, skipped: 0, duplicate: 0, rejected: 0 },
  events: 0,
  bytes: { source: 0, staged: 0, imported: 0 },
};
const running: MigrationStatus = {
  ...finished,
  state: 'running',
  run: {
    phase: 'import',
    recordsPerSecond: 166,
    secondsLeft: 200,
    waitingFor: 'the budget of 10,000 events a minute',
  },
};

it('what runs fits the terminal: the bar gives way first, and what is waited for is whole', () => {
  expect(renderWatch([running], 100)).toEqual([
    'shop running ██████████████░░░░░░░░░░  61% 12,345/20,000 records · 3 min 20 s left',
    '  waiting for the budget of 10,000 events a minute',
  ]);
  expect(renderWatch([running], 60)).toEqual([
    'shop running 12,345/20,000 records · 3 min 20 s left',
    '  waiting for the budget of 10,000 events a minute',
  ]);
  expect(renderWatch([running], 39)).toEqual([
    'shop running 12,345/20,000 records',
    '  waiting for the budget of 10,000',
    '  events a minute',
  ]);
});

it('each that runs has a line, and the others one together', () => {
  const paused = { ...finished, migration: 'web', state: 'paused' } as const;
  const { run: _, ...second } = { ...running, migration: 'app' };
  expect(renderWatch([running, second, finished, paused, paused], 60)).toEqual([
    'shop running 12,345/20,000 records · 3 min 20 s left',
    '  waiting for the budget of 10,000 events a minute',
    'app running 12,345/20,000 records',
    'not running: 1 finished, 2 paused',
  ]);
});

it('watching says why it ends', () => {
  expect(renderWatchEnd([finished])).toBe('Nothing runs any more: shop is finished.');
  expect(renderWatchEnd([finished, { ...finished, state: 'paused' }])).toBe(
    'Nothing runs any more: 1 finished, 1 paused.',
  );
});
