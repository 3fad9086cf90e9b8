import { counted, formatCount, wrap } from '../../../migrations/plan/format-text.ts';
import type { Comparison, Table } from '../../../migrations/verify/comparison.ts';
import type { Verification } from '../../../migrations/verify/verify.ts';
import {
  describeRow,
  judge,
  nameSides,
  pickRows,
  SUBJECTS,
  signed,
  titleOf,
} from '../../../migrations/verify/words.ts';
import { type Cell, printable, renderTable } from '../text-table.ts';

const ROWS = 15;
const WIDTH = 100;

/** Old against new, as a person reads it in a terminal. */
export function renderComparison(verification: Verification): string {
  const { migration, replays, destination, comparisons, synthetic, notes } = verification;
  return [
    `Migration ${migration}${replays.length > 0 ? `, with ${replays.join(', ')}` : ''} → ${printable(destination)}`,
    ...comparisons.flatMap(renderOne),
    ...(synthetic
      ? [
          '',
          `About persons and groups: ${formatCount(synthetic.sent)} events were sent, ${formatCount(synthetic.held)} are there.`,
        ]
      : []),
    ...notes.flatMap((note) => wrap(note, '')),
    '',
    renderVerdict(verification),
  ].join('\n');
}

export function renderVerdict({ comparisons, unexplained }: Verification): string {
  if (unexplained > 0) return `DIFFERENT: ${counted(unexplained, 'row')} that nothing explains.`;
  const isEqual = comparisons.every(({ total, tables }) =>
    [total, ...tables.flatMap(({ rows }) => rows)].every((row) => judge(row) === 'equal'),
  );
  return isEqual ? 'Equal.' : 'Every difference is explained.';
}

function renderOne(comparison: Comparison): string[] {
  const [old, now] = nameSides(comparison);
  const { total, tables } = comparison;
  const why = describeRow(total);
  return [
    '',
    titleOf(comparison),
    `  all events: ${old} ${formatCount(total.old)}, ${now} ${formatCount(total.now)}${why === '' ? '' : `: ${why}`}`,
    ...tables.flatMap((table) => renderRows(comparison, table)),
  ];
}

function renderRows(comparison: Comparison, { by, rows }: Table): string[] {
  const { title, column } = SUBJECTS[by];
  const { shown, more } = pickRows(rows, ROWS);
  if (shown.length === 0) return [`  ${title}: ${counted(rows.length, 'row')}, all equal`];
  const header = [column, ...nameSides(comparison, by), 'difference', 'why'];
  return [
    '',
    title,
    ...renderTable(
      header,
      shown.map((row): Cell[] => [
        row.key,
        row.old,
        row.now,
        signed(row.now - row.old),
        printable(describeRow(row)),
      ]),
      WIDTH,
    ),
    ...(more > 0 ? [`  … and ${formatCount(more)} more`] : []),
  ];
}
