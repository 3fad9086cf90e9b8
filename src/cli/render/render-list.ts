import { type Cell, printable, renderTable } from './text-table.ts';

const PLAIN_WIDTH = 100;

/** A table for a terminal, of texts that strangers may have written. */
export function renderList(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const safe = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? printable(cell) : cell)));
  return renderTable(header, safe, process.stdout.columns || PLAIN_WIDTH).join('\n');
}
