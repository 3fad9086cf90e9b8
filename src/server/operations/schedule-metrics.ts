import type { ScheduleView } from '../../migrations/schedule/schedules.ts';
import type { Metric } from './exposition.ts';

/** More would be a burden for whoever scrapes. */
const MAX_SCHEDULES = 200;

const STATES = ['active', 'paused', 'damaged'] as const;

/** Numbers of schedules, those that fail first. */
export function listScheduleMetrics(all: readonly ScheduleView[]): Metric[] {
  const countFailures = ({ lastRun }: ScheduleView) => lastRun?.failures ?? 0;
  const shown = [...all].sort((a, b) => countFailures(b) - countFailures(a)).slice(0, MAX_SCHEDULES);
  const gauge = (
    name: string,
    help: string,
    pick: (schedule: ScheduleView) => number | undefined,
  ): Metric => ({
    name,
    type: 'gauge',
    help,
    samples: shown.flatMap((schedule) => {
      const value = pick(schedule);
      return value === undefined ? [] : [{ labels: { migration: schedule.migration }, value }];
    }),
  });
  return [
    {
      name: 'backhaul_schedule_state',
      type: 'gauge',
      help: 'State of the schedule of a migration: 1 for the state that it is in.',
      samples: shown.flatMap(({ migration, state }) =>
        STATES.map((one) => ({ labels: { migration, state: one }, value: Number(one === state) })),
      ),
    },
    gauge(
      'backhaul_schedule_next_run_timestamp_seconds',
      'When the schedule of a migration runs next; absent while it is paused.',
      ({ next }) => toSeconds(next),
    ),
    gauge(
      'backhaul_schedule_due_timestamp_seconds',
      'Since when a run is due that has not ended, its first missed moment; absent where none is.',
      ({ overdueSince }) => toSeconds(overdueSince),
    ),
    gauge(
      'backhaul_schedule_last_run_timestamp_seconds',
      'When the last run of a schedule ended, whatever it came to.',
      ({ lastRun }) => (lastRun?.outcome === 'unable' ? undefined : toSeconds(lastRun?.endedAt)),
    ),
    gauge(
      'backhaul_schedule_last_success_timestamp_seconds',
      'When a run of a schedule last ended well: what was new is in, or nothing was.',
      ({ lastRun }) => toSeconds(lastRun?.succeededAt),
    ),
    gauge(
      'backhaul_schedule_failures',
      'Runs of a schedule in a row that failed.',
      ({ lastRun }) => lastRun?.failures,
    ),
  ];
}

const toSeconds = (iso: string | undefined): number | undefined =>
  iso === undefined ? undefined : Date.parse(iso) / 1_000;
