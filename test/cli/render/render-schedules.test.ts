import { expect, it } from 'vitest';
import {
  describeDue,
  formatLocal,
  renderCoverage,
  renderSchedules as renderIn,
} from '../../../src/cli/render/render-schedules.ts';
import { describeWait } from '../../../src/migrations/schedule/describe-wait.ts';

const renderSchedules = (all: Parameters<typeof renderIn>[0]) => renderIn(all, '/staging');
const schedule = {
  migration: 'shop',
  state: 'active',
  reason: '',
  cron: '0 6 * * *',
  timezone: 'UTC',
  lagMinutes: 1,
  next: '2024-03-02T06:00:00.000Z',
} as const;
const ended = {
  due: '2024-03-01T06:00:00.000Z',
  startedAt: '2024-03-01T06:00:00.000Z',
  endedAt: '2024-03-01T06:01:00.000Z',
  missed: 0,
  files: 0,
  failures: 0,
};
const overdueSince = '2024-03-01T06:00:00.000Z';
const runningSince = '2024-03-01T06:00:02.000Z';

it('files that wait are named, although the run went well', () => {
  const waiting = { files: 1, ahead: 1, names: ['in/b.json'] };
  const lastRun = { ...ended, outcome: 'nothing_new', reason: '', waiting } as const;
  const text = /shop: nothing new; 1 file waits[^:]*: in\/b\.json/;
  expect(renderSchedules([{ ...schedule, lastRun }]).replaceAll(/\s+/g, ' ')).toMatch(text);
  const none = { days: [], missing: [], undated: 0 };
  expect(renderCoverage({ ...none, waiting })).toContain('in/b.json');
  expect(renderCoverage(none)).not.toContain('waits');
});

it('a schedule is marked as held while the migration is paused', () => {
  expect(renderSchedules([schedule])).not.toContain('held');
  expect(renderSchedules([{ ...schedule, held: 'paused' }])).toMatch(/shop +held: paused/);
});

it('a run that is under way is not called due', () => {
  expect(renderSchedules([schedule])).toContain('2024-03-02 06:00Z');
  expect(renderSchedules([{ ...schedule, overdueSince }])).toContain('due since 2024-03-01 06:00Z');
  const running = renderSchedules([{ ...schedule, overdueSince, runningSince }]);
  expect(running).toContain('running since 2024-03-01 06:00Z');
  expect(running).not.toContain('due');
  expect(describeDue({})).toBeUndefined();
});

it('what kept the last run from running is not said once the next one is under way', () => {
  const reason = 'no process has its key: set KEY in serve or the workers';
  const at = '2024-03-01T06:02:00.000Z';
  const times = { due: overdueSince, startedAt: at, endedAt: at };
  const lastRun = { ...times, missed: 3, outcome: 'unable', reason, files: 0, failures: 0 } as const;
  const waiting = { ...schedule, overdueSince, reason, lastRun };
  expect(renderSchedules([waiting])).toContain('shop: not run; 3 missed; no process has its key');
  const running = renderSchedules([{ ...waiting, runningSince }]);
  expect(running).not.toContain('missed');
  expect(running).toContain('2024-03-01 06:02Z not run');
  expect(describeWait({ ...waiting, runningSince }, (iso) => iso)).toBe(
    `A run of the schedule is under way since ${runningSince}.`,
  );
});

it('says where there are none', () => {
  expect(renderSchedules([])).toBe(
    'There are no schedules in /staging; "backhaul schedule set <manifest>" makes one.',
  );
});

it.each([
  ['UTC', '2024-03-31 06:00:00 UTC'],
  ['Europe/Berlin', '2024-03-31 08:00:00 UTC+2'],
  ['Asia/Kolkata', '2024-03-31 11:30:00 UTC+5:30'],
])('a time in %s says its difference to UTC', (timezone, shown) => {
  expect(formatLocal(new Date('2024-03-31T06:00:00Z'), timezone)).toBe(shown);
});
