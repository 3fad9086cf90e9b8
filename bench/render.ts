import type { Figures } from './figures.ts';
import type { Spread } from './spread.ts';

/** One aligned table of the whole path and the stages, and how to read it. */
export function renderFigures({ input, rounds, wholePath, stages }: Figures): string {
  const megabytes = Math.round(input.bytes / 1e6);
  const rows: Row[] = [
    ['WHOLE PATH', '× documented', '× ceiling', 'records/CPU s', 'peak MB'],
    ...wholePath.map(
      (path): Row => [
        path.name,
        renderSpread(path.timesDocumented),
        renderSpread(path.timesCeiling),
        formatThousands(path.recordsPerCpuSecond),
        path.peakRssMb === undefined ? '' : String(Math.round(path.peakRssMb)),
      ],
    ),
    [],
    ['STAGES, CPU time', '× JSON.parse', '', 'records/CPU s', ''],
    ...stages.map(
      (stage): Row => [
        `${stage.source}: ${stage.name}`,
        renderSpread(stage.timesParse),
        '',
        formatThousands(stage.recordsPerCpuSecond),
        '',
      ],
    ),
  ];
  return [
    `${formatThousands(input.records)} records, ${megabytes} MB unpacked, to a sink on loopback.`,
    `Medians and (lowest-highest) of ${rounds.wholePath} and ${rounds.stages} rounds, all contenders interleaved.`,
    '',
    ...alignColumns(rows),
    '',
    'How to read it: compare ratios, within one table. The rest depends on this machine at this moment.',
    'Whole path: more is faster. The ceiling sends nothing; Backhaul compresses, stores and counts what it sends.',
    'Stages: less is faster. 1.00 is JSON.parse of the same records; look first at the stages with the highest ratios.',
    '',
  ].join('\n');
}

type Row = readonly string[];

const renderSpread = ({ median, low, high }: Spread) =>
  `${median.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;

const formatThousands = (value: number) => Math.round(value).toLocaleString('en-US');

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
