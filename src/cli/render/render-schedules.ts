import { wrap } from '../../migrations/plan/format-text.ts';
import type { Coverage } from '../../migrations/schedule/coverage.ts';
import { describeWait } from '../../migrations/schedule/describe-wait.ts';
import type { ScheduleView } from '../../migrations/schedule/schedules.ts';
import { describeWaiting } from '../../migrations/schedule/settling.ts';
import { renderList } from './render-list.ts';
import { formatCount } from './text-table.ts';

type Run = NonNullable<ScheduleView['lastRun']>;

/** `where`: the staging that holds them. */
export function renderSchedules(all: readonly ScheduleView[], where: string): string {
  if (all.length === 0)
    return `There are no schedules in ${where}; "backhaul schedule set <manifest>" makes one.`;
  return [
    renderList(
      ['migration', 'state', 'cron', 'time zone', 'next', 'last run'],
      all.map(({ migration, state, held, cron, timezone, next, overdueSince, runningSince, lastRun }) => [
        migration,
        held === undefined ? state : `held: ${held}`,
        cron,
        timezone,
        describeDue({ overdueSince, runningSince }) ?? toMinute(next),
        lastRun === undefined ? 'none yet' : `${toMinute(lastRun.endedAt)} ${NAMES[lastRun.outcome]}`,
      ]),
    ),
    // What the last run came to is history once the next one is under way.
    ...all.flatMap(({ migration, lastRun, reason, runningSince }) =>
      (reason === '' && lastRun?.waiting === undefined) || runningSince !== undefined
        ? []
        : wrap(lastRun ? describeRun(lastRun) : reason, `  ${migration}: `, '    '),
    ),
  ].join('\n');
}

/** In a time zone, with its difference to UTC: `2024-03-31 08:00:00 UTC+2`. */
export const formatLocal = (moment: Date, timeZone: string): string =>
  moment
    .toLocaleString('sv-SE', { timeZone, timeZoneName: 'shortOffset' })
    .replace('GMT', 'UTC')
    .replace(/\+0$/, '');

/** What is under way or late of a schedule; undefined where it only waits for its next time. */
export function describeDue({
  overdueSince,
  runningSince,
}: { readonly [K in 'overdueSince' | 'runningSince']?: string | undefined }): string | undefined {
  if (runningSince !== undefined) return `running since ${toMinute(runningSince)}`;
  return overdueSince === undefined ? undefined : `due since ${toMinute(overdueSince)}`;
}

/** `2 files taken in`, or what stopped it. */
export function describeRun({ outcome, files, missed, failures, reason, waiting }: Run): string {
  const taken = files === 1 ? '1 file taken in' : `${formatCount(files)} files taken in`;
  return [
    outcome === 'done' && files > 0 ? taken : NAMES[outcome],
    ...(missed > 0 ? [`${formatCount(missed)} missed${outcome === 'unable' ? '' : ' before'}`] : []),
    ...(outcome === 'failed' && failures > 1 ? [`${formatCount(failures)} times in a row`] : []),
    ...(reason === '' ? [] : [reason]),
    ...(waiting ? [describeWaiting(waiting)] : []),
  ].join('; ');
}

const NAMES: Readonly<Record<Run['outcome'], string>> = {
  done: 'done',
  nothing_new: 'nothing new',
  busy: 'run by another process',
  held: 'held',
  unable: 'not run',
  failed: 'failed',
};

export function renderCoverage({ days, missing, undated, waiting, schedule }: Coverage): string {
  const gaps = new Map(missing.map((gap) => [gap.from, gap]));
  const rows = days
    .map(({ day, counts, late, firstAt, lastAt }) => ({
      day,
      row: [
        day,
        counts.read,
        counts.delivered,
        counts.rejected,
        late,
        firstAt === lastAt ? toMinute(firstAt) : `${toMinute(firstAt)}, last ${toMinute(lastAt)}`,
      ],
    }))
    .concat(
      [...gaps.values()].map(({ from, to }) => ({
        day: from,
        row: [from === to ? from : `${from} to ${to}`, 0, 0, 0, 0, 'missing'],
      })),
    )
    .sort((a, b) => (a.day < b.day ? -1 : 1))
    .map(({ row }) => row);
  return [
    ...(rows.length === 0
      ? [`Nothing is imported yet.${schedule ? ` ${describeWait(schedule, toMinute)}` : ''}`]
      : [renderList(['day (UTC)', 'records', 'delivered', 'rejected', 'late', 'taken in'], rows)]),
    ...(undated === 0
      ? []
      : [
          `  ${formatCount(undated)} ${undated === 1 ? 'record has' : 'records have'} no time that can be read.`,
        ]),
    ...(waiting ? wrap(`${describeWaiting(waiting)}.`, '  ', '  ') : []),
  ].join('\n');
}

/** In UTC, as everywhere. */
const toMinute = (iso: string | undefined): string =>
  iso === undefined ? '-' : `${iso.slice(0, 10)} ${iso.slice(11, 16)}Z`;
