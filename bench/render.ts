import type { Figures } from './figures.ts';
import type { Spread } from './spread.ts';

/** One aligned table, whole path and stages, and what to read from it. */
export function renderFigures({ input, rounds, wholePath, stages }: Figures): string {
  const megabytes = Math.round(input.bytes / 1e6);
  const rows: Row[] = [
    ['WHOLE PATH', '× documented', '× ceiling', 'records/CPU s', 'peak MB'],
    ...wholePath.map(
      (path): Row => [
        path.name,
        withRange(path.timesDocumented),
        withRange(path.timesCeiling),
        thousands(path.recordsPerCpuSecond),
        path.peakRssMb === undefined ? '' : String(Math.round(path.peakRssMb)),
      ],
    ),
    [],
    ['STAGES, CPU time', '× JSON.parse', '', 'records/CPU s', ''],
    ...stages.map(
      (stage): Row => [
        `${stage.source}: ${stage.name}`,
        withRange(stage.timesParse),
        '',
        thousands(stage.recordsPerCpuSecond),
        '',
      ],
    ),
  ];
  return [
    `${thousands(input.records)} records, ${megabytes} MB unpacked, to a sink on loopback.`,
    `Medians and (lowest-highest) of ${rounds.wholePath} and ${rounds.stages} rounds, all contenders in turns.`,
    '',
    ...alignColumns(rows),
    '',
    'What to read from it: ratios only, within one table. The rest is this machine at this moment.',
    'Whole path: more is faster. The ceiling does not send; Backhaul packs, keeps and accounts for what it sends.',
    'Stages: less is faster. 1.00 is JSON.parse of the same records; a stage above it is where to look first.',
    '',
  ].join('\n');
}

type Row = readonly string[];

const withRange = ({ median, low, high }: Spread) =>
  `${median.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;

const thousands = (value: number) => Math.round(value).toLocaleString('en-US');

/** The first column to the left, figures to the right. */
function alignColumns(rows: readonly Row[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
