import type { ScheduleView } from './schedules.ts';
import { describeWaiting } from './settling.ts';

/** What a schedule that has begun no migration waits for, in sentences. `toTime`: of ISO 8601. */
export function describeWait(schedule: ScheduleView, toTime: (iso: string) => string): string {
  if (schedule.state === 'damaged') return `The schedule is damaged: ${schedule.reason}`;
  const { runningSince } = schedule;
  if (runningSince !== undefined) return `A run of the schedule is under way since ${toTime(runningSince)}.`;
  return `${describeLast(schedule.lastRun, toTime)}${describeNext(schedule, toTime)}`;
}

function describeLast(run: ScheduleView['lastRun'], toTime: (iso: string) => string): string {
  if (run === undefined) return 'The schedule has not run yet.';
  if (run.outcome === 'unable') return `The schedule was due, and nobody ran it: ${run.reason}.`;
  const what = run.outcome === 'failed' ? 'failed' : 'took in nothing';
  const reasons = [run.reason, ...(run.waiting ? [describeWaiting(run.waiting)] : [])].filter(Boolean);
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  return `The last run of the schedule, at ${toTime(run.endedAt)}, ${what}${why}.`;
}

function describeNext({ state, next, overdueSince }: ScheduleView, toTime: (iso: string) => string): string {
  if (state === 'paused') return ' It is paused.';
  if (overdueSince !== undefined)
    return ` It is due since ${toTime(overdueSince)}, and runs as soon as "backhaul serve" or a "backhaul worker" that has its key does.`;
  return next === undefined ? '' : ` Its next run is at ${toTime(next)}.`;
}
