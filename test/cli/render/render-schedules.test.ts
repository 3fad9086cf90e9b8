import { expect, it } from 'vitest';
import { describeDue, renderSchedules } from '../../../src/cli/render/render-schedules.ts';

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
