import { styleText } from 'node:util';
import type { RecordCounts } from '../../contract/progress.ts';
import { wrap } from '../../migrations/plan/format-text.ts';
import type { Report } from '../../migrations/report/report.ts';
import { renderWayBack } from './render-way-back.ts';
import { type Cell, formatCount, printable, renderTable, shortened } from './text-table.ts';

export interface RenderOptions {
  /** @default false */
  readonly colour?: boolean;
  /** Columns. @default 80 */
  readonly width?: number;
  /** Rows of a long table. @default 15 */
  readonly rows?: number;
}

/** The report as a person reads it in a terminal. */
export function renderReport(report: Report, options: RenderOptions = {}): string {
  const { colour = false, width = 80, rows = 15 } = options;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(format, text, { validateStream: false }) : text;
  const title = (text: string) => style('bold', text);
  const table = (name: string, header: readonly string[], all: readonly (readonly Cell[])[]) =>
    all.length === 0
      ? []
      : ['', title(name), ...renderTable(header, all.slice(0, rows), width), ...andMore(all.length - rows)];

  const { counts, events, people } = report;
  const { parts, files } = report.unfinished;
  const verdict = !report.balanced
    ? style('red', 'THE BOOKS DO NOT BALANCE:')
    : parts > 0 || files.length > 0
      ? style('yellow', 'The books balance so far; what is not finished yet is listed at the end.')
      : style('green', 'The books balance: every record read has exactly one outcome.');

  return [
    title(`Migration ${report.migration}`),
    `  ${shortened(`${report.mapping} → ${report.destination}`, width - 2)}`,
    ...table(
      'Records',
      ['', 'records', 'share'],
      OUTCOMES.map((outcome): Cell[] => [outcome, counts[outcome], share(counts[outcome], counts.read)]),
    ),
    verdict,
    ...report.problems.flatMap((problem) => wrap(problem, '  ')).map((line) => style('red', line)),
    ...table(
      'Events',
      ['', 'events'],
      [
        ['sent', events.sent],
        ['accepted', events.accepted],
        ...(events.distinct === undefined ? [] : [['distinct', events.distinct] satisfies Cell[]]),
        ['synthetic', events.synthetic],
      ],
    ),
    ...repeatsLines(report).map((line) => style('yellow', line)),
    ...table('Skipped, repeated and rejected', ['reason', 'records'], byCount(report.byReason)),
    ...rejectedFileLines(report, width).map((line) => style('yellow', line)),
    ...table(
      'Persons',
      ['', 'ids'],
      [
        ['merged into their user', people.pairs],
        ...(people.mergedBefore === undefined
          ? []
          : [['merged by an earlier migration', people.mergedBefore] satisfies Cell[]]),
        ...(people.chosen === undefined
          ? []
          : [['of these, shared by several users', people.chosen] satisfies Cell[]]),
        ['persons with properties', people.persons],
        ['groups', people.groups],
        ...byCount(people.setAside).map(([reason, count]): Cell[] => [`unmerged: ${reason}`, count]),
      ],
    ),
    ...uniqueLines(report, table),
    ...(people.sharedDevices === undefined || people.sharedDevices === 'none'
      ? []
      : [`  A device of several users is that of the ${people.sharedDevices} one (people.sharedDevices).`]),
    ...people.setAsideSample.slice(0, UNMERGED_SHOWN).map((one) => {
      const users = one.users?.length
        ? `: seen with ${formatCount(one.userCount ?? 0)} (${one.users.join(', ')})`
        : '';
      const what = one.property === undefined ? users : `: property ${one.property}`;
      return `    ${shortened(`${one.reason} ${one.id}${what}`, width - 4)}`;
    }),
    ...listVendorLines(people.setAside).map((line) => style('yellow', line)),
    ...(people.setAside.contradicted_merge === undefined
      ? []
      : [
          style(
            'yellow',
            `  ${formatCount(people.setAside.contradicted_merge)} merged before would not be merged by what is known now.`,
          ),
          '  The destination cannot undo a merge; nothing more is sent about these ids.',
        ]),
    ...(people.setAside.merged_otherwise === undefined
      ? []
      : [
          style(
            'yellow',
            `  ${formatCount(people.setAside.merged_otherwise)} shared devices were merged before into one of their users, and are or may be another one's by what is known now.`,
          ),
          '  The destination cannot undo a merge; what is said of these devices goes to that user. Exports that are held and released together are decided over all of them.',
        ]),
    ...(people.held
      ? [
          style('yellow', '  Held: nothing about persons and groups was sent.'),
          `  Send it, together with what else of the export is held: backhaul persons send ${report.migration} <others>`,
        ]
      : []),
    ...(people.lost === undefined
      ? []
      : [
          style('yellow', '  More was sent about persons and groups than is counted here:'),
          `  staging has lost ${people.lost.join(', ')}. Restore it from a backup and run "backhaul resume ${report.migration}" to count it; nothing has to be sent again.`,
        ]),
    ...(people.releasedBy === undefined ? [] : [`  Persons were sent by migration ${people.releasedBy}.`]),
    ...(people.refusedCount > 0
      ? [style('red', `  events about persons and groups refused: ${formatCount(people.refusedCount)}`)]
      : []),
    ...people.refused.map(({ event, distinctId, detail }) =>
      style('red', `    ${shortened(`refused: ${event} of ${distinctId}: ${detail}`, width - 4)}`),
    ),
    ...table(
      'By file',
      ['file', ...COUNT_TITLES],
      report.byFile.map(({ file, counts }) => [file, ...cells(counts)]),
    ),
    ...table(
      'By day',
      ['day', ...COUNT_TITLES],
      Object.entries(report.byDay).map(([day, of]) => [day, ...cells(of)]),
    ),
    ...table(
      'By event',
      ['event', ...COUNT_TITLES],
      Object.entries(report.byEvent)
        .sort(([nameA, a], [nameB, b]) => b.read - a.read || (nameA < nameB ? -1 : 1))
        .map(([event, of]) => [event, ...cells(of)]),
    ),
    ...renderWayBack(report, title),
    ...unfinishedLines(report, width).map((line) => style('yellow', line)),
  ].join('\n');
}

const OUTCOMES = ['read', 'delivered', 'skipped', 'duplicate', 'rejected'] as const;
const COUNT_TITLES = OUTCOMES;
const UNMERGED_SHOWN = 5;

const cells = (counts: RecordCounts): Cell[] => OUTCOMES.map((outcome) => counts[outcome]);

const byCount = (counts: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(counts).sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));

const andMore = (more: number) => (more > 0 ? [`  … and ${formatCount(more)} more`] : []);

/** A share that is not zero is at least "<0.01%": no loss is rounded away. */
function share(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '';
  const percent = (100 * part) / whole;
  const rounded =
    percent < 0.01 ? '<0.01%' : percent > 99.99 && part < whole ? '>99.99%' : `${percent.toFixed(2)}%`;
  return rounded.padStart('100.00%'.length);
}

/** Why `delivered` may count an event twice. */
function repeatsLines({ repeats }: Report): string[] {
  // Only a report that version 0.1.0 has written says nothing of them.
  if (!repeats) return ['  Repeats across parts are not counted: version 0.1.0 imported them.'];
  const { counted, partsWithout } = repeats;
  if (partsWithout > 0) {
    const parts = partsWithout === 1 ? '1 part' : `${formatCount(partsWithout)} parts`;
    return [`  Repeats across parts are not counted for ${parts}: version 0.1.0 imported them.`];
  }
  return counted ? [] : ['  Repeats across parts are counted once every event is in.'];
}

const FILES_SHOWN = 5;

/** A file that is no export may be so few records that they are below every threshold. */
function rejectedFileLines({ byFile, migration }: Report, width: number): string[] {
  const files = byFile.filter(({ counts }) => counts.read > 0 && counts.rejected === counts.read);
  if (files.length === 0) return [];
  const count = files.length === 1 ? '1 file' : `${formatCount(files.length)} files`;
  return [
    `  Of ${count} every record was rejected, so that nothing in ${files.length === 1 ? 'it' : 'them'} was imported:`,
    ...files
      .slice(0, FILES_SHOWN)
      .map(({ file, counts }) => `    ${shortened(`${file} (${formatCount(counts.rejected)})`, width - 4)}`),
    ...andMore(files.length - FILES_SHOWN).map((line) => `  ${line}`),
    `  See why: backhaul rejects show ${migration}`,
  ];
}

function unfinishedLines({ unfinished }: Report, width: number): string[] {
  const { parts, partSample, files, failures, people } = unfinished;
  const lines = [
    ...failures.map(({ what, reason }) => printable(`  failed: ${what}: ${reason}`)),
    ...files.slice(0, 5).map((file) => `  ${shortened(`not staged to its end: ${file}`, width - 2)}`),
    ...andMore(files.length - 5),
    ...(parts > 0
      ? [
          `  ${shortened(`parts without a receipt: ${formatCount(parts)} (${partSample.join(', ')})`, width - 2)}`,
        ]
      : []),
    ...(people ? ['  persons and groups are not sent yet'] : []),
  ];
  return lines.length > 0 ? ['', 'Not finished', ...lines] : [];
}

type RenderTable = (
  name: string,
  header: readonly string[],
  all: readonly (readonly Cell[])[],
) => readonly string[];

/** Users with events of each month, and what the vendor counts otherwise. */
function uniqueLines({ people, byReason }: Report, table: RenderTable): readonly string[] {
  const months = Object.entries(people.uniques ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (months.length === 0 || people.held) return [];
  const apart = Object.entries(people.setAside).filter(([reason]) => APART.has(reason));
  const outside = Object.entries(byReason).filter(([reason]) => OUTSIDE.has(reason));
  const causes = [
    ...apart.map(([reason, count]) => `${formatCount(count)} ${reason}`),
    ...outside.map(([reason, count]) => `${formatCount(count)} records ${reason}`),
  ];
  return [
    ...table(
      'Unique users by month (UTC)',
      ['month', 'vendor', 'destination', 'difference'],
      months.map(([month, { vendor, destination }]): Cell[] => [
        month,
        vendor,
        destination,
        destination - vendor,
      ]),
    ),
    ...(causes.length > 0 && months.some(([, { vendor, destination }]) => vendor !== destination)
      ? wrap(`Set apart by: ${causes.join(', ')}.`, '  ')
      : []),
  ];
}

/** Why ids that are one user for the vendor are several persons. */
const APART: ReadonlySet<string> = new Set([
  'shared_device',
  'junk_id',
  'several_users',
  'no_user',
  'over_limit',
  'removed_person',
  'already_identified',
  'contradicted_merge',
  'merged_otherwise',
  'merged_user',
  'ledger_forgotten',
]);
const OUTSIDE: ReadonlySet<string> = new Set(['before_window', 'after_window', 'no_identity', 'id_too_long']);

/** What keeps persons of the vendor apart at the destination, and what can be done by hand. */
const listVendorLines = ({
  several_users: severalUsers,
  no_user: noUser,
}: Report['people']['setAside']): string[] => [
  ...(severalUsers === undefined
    ? []
    : [
        `  ${formatCount(severalUsers)} of the vendor's persons have several user ids, which no $identify merges at the destination.`,
        '  By hand: a $merge_dangerously event with the id to keep as distinct_id and the other as alias. It cannot be undone.',
      ]),
  ...(noUser === undefined
    ? []
    : [
        `  ${formatCount(noUser)} of the vendor's persons have several ids and no user: each id can still be merged into its user later.`,
      ]),
];
