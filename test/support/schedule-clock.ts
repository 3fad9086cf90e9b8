import type { Staging } from '../../src/contract/staging.ts';
import { addSchedule, loadNewestSchedule } from '../../src/state/schedules/schedules.ts';

/** As if the schedule had been set so many days ago, and no run of it been there: nobody can wait so long. */
export async function setDaysAgo(staging: Staging, name: string, days: number): Promise<void> {
  const { schedule, number } = await loadNewestSchedule(staging, name);
  if (schedule === undefined) throw new Error(`${name} has no schedule`);
  const since = new Date(Date.parse(schedule.since) - days * 24 * 3_600_000).toISOString();
  await addSchedule(staging, name, { number: number + 1, schedule: { ...schedule, since } });
}
