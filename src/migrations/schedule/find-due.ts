import { nextOccurrence, occurrences } from '../../lib/cron.ts';
import type { ScheduledRun } from '../../state/schedules/runs.ts';
import type { Schedule } from '../../state/schedules/schedules.ts';

export interface Due {
  /** The last moment of the schedule that has come. */
  readonly due: Date;
  /** The first one since the last run. */
  readonly first: Date;
  /** Moments before it at which no run was under way, since the last run. */
  readonly missed: number;
}

/** A recorded time that lies further ahead was written by a clock that was wrong. */
const BELIEVED_AHEAD_MS = 5 * 60_000;

/** More are not counted: the run of them all is one. */
const MOST_COUNTED = 1_000;

type LastRun = Pick<ScheduledRun, 'due' | 'endedAt'> & Partial<Pick<ScheduledRun, 'outcome'>>;
type Timing = Pick<Schedule, 'cron' | 'timezone' | 'since'>;

/**
 * What has come due since the last run; undefined where nothing has. A process whose clock was ahead may have run or
 * set the schedule: waiting for that time could take a year. So what lies in the future is not believed, and the last
 * moment before now is due; its files were imported already or are new.
 */
export function findDue(schedule: Timing, last: LastRun | undefined, now: Date): Due | undefined {
  const isBelieved = (time: string) => Date.parse(time) <= now.getTime() + BELIEVED_AHEAD_MS;
  const since = isBelieved(schedule.since) ? schedule.since : last?.due;
  if (since !== undefined && isBelieved(last?.due ?? since))
    return findSince({ ...schedule, since }, last, now);
  const due = findLast(schedule, now);
  return due && { due, first: due, missed: 0 };
}

/** The last moment up to now, of the last year or so. */
function findLast({ cron, timezone }: Timing, now: Date): Date | undefined {
  for (const hours of [1, 25, 24 * 32, 24 * 370]) {
    let last: Date | undefined;
    for (const next of occurrences(cron, new Date(now.getTime() - hours * 3_600_000), timezone)) {
      if (next > now) break;
      last = next;
    }
    if (last) return last;
  }
  return undefined;
}

function findSince(schedule: Timing, last: LastRun | undefined, now: Date): Due | undefined {
  const wasRun = last !== undefined && last.outcome !== 'unable';
  const lastDue = last === undefined ? 0 : Date.parse(last.due) - (wasRun ? 0 : 1);
  const since = new Date(Math.max(Date.parse(schedule.since), lastDue));
  const busyUntil = wasRun ? Date.parse(last.endedAt) : since.getTime();
  let first: Date | undefined;
  let due: Date | undefined;
  let missed = 0;
  let count = 0;
  for (const next of occurrences(schedule.cron, since, schedule.timezone)) {
    if (next > now) break;
    if (count === MOST_COUNTED) return { due: now, first: first ?? now, missed };
    if (due && due.getTime() > busyUntil) missed += 1;
    first ??= next;
    due = next;
    count += 1;
  }
  return due && first && { due, first, missed };
}

/** The next moments of a schedule, after now or what has come due. */
export function listNext(
  schedule: Pick<Schedule, 'cron' | 'timezone'>,
  after: Date,
  count: number,
): readonly Date[] {
  const moments: Date[] = [];
  for (let next = toNext(schedule, after); next && moments.length < count; next = toNext(schedule, next))
    moments.push(next);
  return moments;
}

/** As the queue computes it: from the moment before, not in one go. */
const toNext = ({ cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>, after: Date) =>
  nextOccurrence(cron, after, timezone);
