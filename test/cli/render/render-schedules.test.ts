import { expect, it } from 'vitest';
import {
  describeDue,
  formatLocal,
  renderSchedules as renderIn,
} from '../../../src/cli/render/render-schedules.ts';

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
const overdueSince = '2024-03-01T06:00:00.000Z';
const runningSince = '2024-03-01T06:00:02.000Z';

it('a run that is under way is not called due', () => {
  expect(renderSchedules([schedule])).toContain('2024-03-02 06:00Z');
  expect(renderSchedules([{ ...schedule, overdueSince }])).toContain('due since 2024-03-01 06:00Z');
  const running = renderSchedules([{ ...schedule, overdueSince, runningSince }]);
  expect(running).toContain('running since 2024-03-01 06:00Z');
  expect(running).not.toContain('due');
  expect(describeDue({})).toBeUndefined();
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
