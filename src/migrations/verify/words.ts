import { formatCount } from '../plan/format-text.ts';
import type { Cause, Comparison, Explained, Row, Subject } from './comparison.ts';

export const CAUSES: Readonly<Record<Cause, { readonly short: string; readonly why: string }>> = {
  skipped: {
    short: 'skipped',
    why: 'A rule of the manifest or the map leaves these records out: the report counts them by reason.',
  },
  duplicate: {
    short: 'repeated',
    why: 'The same record more than once; at the destination it is one event.',
  },
  rejected: {
    short: 'rejected',
    why: 'These records cannot be sent. They are kept with their reasons, and can be replayed.',
  },
  no_day: {
    short: 'skipped or rejected, without a time',
    why: 'No time of these records can be read, so the report counts them under no day.',
  },
  no_name: {
    short: 'skipped or rejected, without a name',
    why: 'These records have no event, so the report counts them under no name.',
  },
  renamed: { short: 'renamed', why: 'The map gives the event another name; the number tells which.' },
  time_zone: {
    short: 'over midnight',
    why: "The vendor's days begin at another hour than those of UTC: what leaves one day is on its neighbour.",
  },
  merged_persons: {
    short: 'persons merged or kept apart',
    why: 'Users are counted as the vendor does, by its numbers or by its rule in the report; the destination counts persons after the merges.',
  },
  not_told_apart: {
    short: 'may be other events',
    why: 'The migration stamps nothing, so other events of the project are counted with its own.',
  },
};

export const SUBJECTS: Readonly<Record<Subject, { readonly title: string; readonly column: string }>> = {
  day: { title: 'Events by day (UTC)', column: 'day' },
  event: { title: 'Events by name', column: 'event' },
  users: { title: 'Unique users by month (UTC)', column: 'month' },
  users_by_event: { title: 'Unique users by day and event', column: 'day and event' },
  people: { title: 'Events about persons and groups', column: 'events' },
};

const SIDES = { report: 'report', destination: 'destination', vendor: 'vendor' } as const;

/** What stands above the numbers; of users the new side is always the destination. */
export const nameSides = ({ old, now }: Pick<Comparison, 'old' | 'now'>, by?: Subject): [string, string] => [
  SIDES[old],
  by === 'users' || by === 'users_by_event' ? SIDES.destination : SIDES[now],
];

export const titleOf = (comparison: Comparison): string =>
  comparison.old === 'report'
    ? 'The report against the destination'
    : "The vendor's counts against the report";

/** A difference with its sign. */
export const signed = (count: number): string =>
  count === 0 ? '0' : `${count > 0 ? '+' : '−'}${formatCount(Math.abs(count))}`;

const describeCause = ({ cause, count, name }: Explained): string => {
  const other =
    name === undefined ? '' : cause === 'renamed' ? ` ${count < 0 ? 'to' : 'from'} ${name}` : ` (${name})`;
  return `${signed(count)} ${CAUSES[cause].short}${other}`;
};

/** `−12 skipped, −3 unexplained`; empty where both numbers are alike and nothing hides behind it. */
export const describeRow = ({ causes, unexplained }: Row): string =>
  [...causes.map(describeCause), ...(unexplained === 0 ? [] : [`${signed(unexplained)} UNEXPLAINED`])].join(
    ', ',
  );

export type Verdict = 'equal' | 'explained' | 'unexplained';

export function judge({ causes, unexplained }: Row): Verdict {
  if (unexplained !== 0) return 'unexplained';
  return causes.length === 0 ? 'equal' : 'explained';
}

/** Unexplained rows come first, equal ones are left out. */
export function pickRows(rows: readonly Row[], most: number): { shown: Row[]; more: number } {
  const differing = [
    ...rows.filter((row) => judge(row) === 'unexplained'),
    ...rows.filter((row) => judge(row) === 'explained'),
  ];
  return { shown: differing.slice(0, most), more: Math.max(0, differing.length - most) };
}
