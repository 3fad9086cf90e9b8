import { type Cell, printable, renderTable } from './text-table.ts';

const PLAIN_WIDTH = 100;

/** A table for a terminal; its texts may come from users, so control characters are replaced. */
export function renderList(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const safe = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? printable(cell) : cell)));
  return renderTable(header, safe, process.stdout.columns || PLAIN_WIDTH).join('\n');
}
