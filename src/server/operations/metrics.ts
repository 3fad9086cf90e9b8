import type { ScheduleView } from '../../migrations/schedule/schedules.ts';
import type { MigrationStatus } from '../../migrations/status/view.ts';
import { type Metric, renderExposition } from './exposition.ts';
import { listScheduleMetrics } from './schedule-metrics.ts';

/** Jobs of one queue by state. */
export interface QueueDepth {
  readonly queue: string;
  readonly waiting: number;
  readonly active: number;
  readonly failed: number;
}

export interface MetricsInput {
  readonly migrations: readonly MigrationStatus[];
  readonly schedules: readonly ScheduleView[];
  /** Undefined where Redis cannot be reached. */
  readonly queues: readonly QueueDepth[] | undefined;
}

/** More would be a burden for whoever scrapes: those that run, then the newest. */
export const MAX_MIGRATIONS = 200;

const STATES = [
  'running',
  'interrupted',
  'unknown',
  'stopped',
  'paused',
  'cancelled',
  'finished',
  'removed',
  'moved',
  'importing',
  'damaged',
] as const;
const OUTCOMES = ['delivered', 'skipped', 'duplicate', 'rejected'] as const;

export const renderMetrics = ({ schedules, ...input }: MetricsInput): string =>
  renderExposition([...listMetrics(input), ...listScheduleMetrics(schedules)]);

function listMetrics({ migrations, queues }: Omit<MetricsInput, 'schedules'>): Metric[] {
  const shown = [...migrations]
    .sort(
      (a, b) => Number(b.state === 'running') - Number(a.state === 'running') || (a.since < b.since ? 1 : -1),
    )
    .slice(0, MAX_MIGRATIONS);
  const each = (pick: (status: MigrationStatus) => number | undefined) =>
    shown.flatMap((status) => {
      const value = pick(status);
      return value === undefined ? [] : [{ labels: { migration: status.migration }, value }];
    });
  return [
    {
      name: 'backhaul_migration_state',
      type: 'gauge',
      help: 'State of a migration: 1 for the state that it is in.',
      samples: shown.flatMap(({ migration, state }) =>
        STATES.map((one) => ({ labels: { migration, state: one }, value: Number(one === state) })),
      ),
    },
    {
      name: 'backhaul_migration_records_total',
      type: 'counter',
      help: 'Records with an outcome, by outcome.',
      samples: shown.flatMap(({ migration, counts }) =>
        OUTCOMES.map((outcome) => ({ labels: { migration, outcome }, value: counts[outcome] })),
      ),
    },
    {
      name: 'backhaul_migration_staged_records',
      type: 'gauge',
      help: 'Records staged so far.',
      samples: each(({ records }) => records.staged),
    },
    {
      name: 'backhaul_migration_events_accepted_total',
      type: 'counter',
      help: 'Events of records that the destination accepted.',
      samples: each(({ events }) => events),
    },
    {
      name: 'backhaul_migration_imported_bytes_total',
      type: 'counter',
      help: 'Unpacked bytes of imported parts.',
      samples: each(({ bytes }) => bytes.imported),
    },
    {
      name: 'backhaul_migration_source_bytes',
      type: 'gauge',
      help: 'Bytes of the source files as they are stored.',
      samples: each(({ bytes }) => bytes.source),
    },
    {
      name: 'backhaul_migration_parts',
      type: 'gauge',
      help: 'Parts by whether they are imported.',
      samples: shown.flatMap(({ migration, parts: { done, staged } }) => [
        { labels: { migration, status: 'imported' }, value: done },
        { labels: { migration, status: 'open' }, value: Math.max(0, staged - done) },
      ]),
    },
    {
      name: 'backhaul_migration_remaining_seconds',
      type: 'gauge',
      help: 'Time left of a running migration, where it is known.',
      samples: each(({ run }) => run?.secondsLeft),
    },
    {
      name: 'backhaul_migration_waiting',
      type: 'gauge',
      help: 'Whether a running migration waits, for its budget or for something that is down.',
      samples: each(({ run }) => run && Number(run.waitingFor !== undefined)),
    },
    {
      name: 'backhaul_queue_jobs',
      type: 'gauge',
      help: 'Jobs by queue and state.',
      samples: (queues ?? []).flatMap(({ queue, ...states }) =>
        Object.entries(states).map(([state, value]) => ({ labels: { queue, state }, value })),
      ),
    },
    {
      name: 'backhaul_redis_up',
      type: 'gauge',
      help: 'Whether Redis can be reached.',
      samples: [{ labels: {}, value: Number(queues !== undefined) }],
    },
  ];
}
