import type { Column, Figures, Format, Row, Table } from './figures.ts';
import type { Spread } from './spread.ts';

/** All tables as aligned text. Each figure is a median, with the lowest and highest where there were several. */
export function renderFigures({ about, tables }: Figures): string {
  return [
    `${about.startedAt}, commit ${about.commit}, Node.js ${about.node}, ${about.machine}`,
    `Peers: ${about.peers}.`,
    ...about.notes,
    'Medians and (lowest-highest). CPU is of all processes. Compare ratios; the rest depends on this machine.',
    ...tables.flatMap(renderTable),
    '',
  ].join('\n');
}

function renderTable({ title, columns, rows, notes = [] }: Table): string[] {
  const cells = [
    [title, ...columns.map(({ head }) => head)],
    ...rows.map((row) => [row.name, ...columns.map((column) => renderCell(row, column))]),
  ];
  return ['', ...alignColumns(cells), ...notes.map((note) => `  ${note}`)];
}

/** The same for docs/: tables in Markdown, medians with their range. */
export function renderMarkdown({ about, tables }: Figures): string {
  return [
    '# Benchmark figures',
    '',
    'Written by `npm run bench -- --save`; [benchmark.md](benchmark.md) explains each row. Compare ratios within a table; everything else depends on the machine.',
    '',
    `${about.startedAt}, commit ${about.commit}, Node.js ${about.node}, ${about.machine}. Peers: ${about.peers}. Medians and (lowest-highest); CPU is of all processes.`,
    ...about.notes.flatMap((note) => ['', note]),
    ...tables.flatMap(renderMarkdownTable),
    '',
  ].join('\n');
}

function renderMarkdownTable({ title, columns, rows, notes = [], measured }: Table): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '',
    `## ${title}`,
    '',
    ...(measured === undefined ? [] : [`Measured ${measured}.`, '']),
    line(['', ...columns.map(({ head }) => head)]),
    line(['---', ...columns.map(({ format }) => (format === 'text' ? '---' : '--:'))]),
    ...rows.map((row) => line([row.name.trim(), ...columns.map((column) => renderCell(row, column))])),
    ...notes.flatMap((note) => ['', note]),
  ];
}

function renderCell({ cells }: Row, { key, format }: Column): string {
  const value = cells[key];
  if (value === undefined) return '';
  return typeof value === 'string' ? value : renderSpread(value, format);
}

function renderSpread({ median, low, high }: Spread, format: Format): string {
  const [from, middle, to] = [low, median, high].map((value) => renderNumber(value, format));
  return from === to ? (middle ?? '') : `${middle} (${from}-${to})`;
}

const DECIMALS: Readonly<Record<Format, number>> = { ratio: 2, micros: 1, seconds: 2, whole: 0, text: 0 };

const renderNumber = (value: number, format: Format): string =>
  value.toLocaleString('en-US', {
    minimumFractionDigits: DECIMALS[format],
    maximumFractionDigits: DECIMALS[format],
  });

/** The first column to the left, figures to the right. */
function alignColumns(rows: readonly (readonly string[])[]): string[] {
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
