import { isLosslessNumber } from 'lossless-json';
import { invalidInput } from './errors.ts';
import { isJsonObject, textOf } from './json.ts';

/** As many as a spreadsheet holds: no sheet could show more. */
export const MAX_COLUMNS = 16_384;

/** Where each column stands, by its name. */
export type Columns = ReadonlyMap<string, number>;

/**
 * The scalars of a JSON value, each under the path that leads to it: `properties.$os`, `distinct_ids.0`.
 * Empty containers have none. A scalar on its own is called `value`. Of two paths that read alike (a key with
 * a dot in it) the later one stands, as clients of the service know it.
 */
export function flatten(document: unknown): Map<string, unknown> {
  const cells = new Map<string, unknown>();
  const walk = (value: unknown, path: string): void => {
    const isContainer = Array.isArray(value) || isJsonObject(value);
    if (!isContainer) return void cells.set(path || 'value', value);
    for (const [key, inner] of Object.entries(value)) walk(inner, path === '' ? key : `${path}.${key}`);
  };
  walk(document, '');
  return cells;
}

/** Adds the columns that rows need to those seen before. Refuses a table too wide to be one. */
export function collectColumns(names: Set<string>, rows: readonly unknown[]): void {
  for (const row of rows) {
    for (const name of flatten(row).keys()) names.add(name);
    if (names.size > MAX_COLUMNS) {
      throw invalidInput(
        `The table would have more than ${MAX_COLUMNS} columns. Ask for fewer rows, or for JSON.`,
        'format',
      );
    }
  }
}

/** Columns in the order of their names. */
export const orderColumns = (names: ReadonlySet<string>): Columns =>
  new Map([...names].sort().map((name, index) => [name, index]));

export const renderHeader = (columns: Columns): string => renderLine([...columns.keys()].map(renderCell));

/** One line of a table; what has no column is left out. */
export function renderRow(row: unknown, columns: Columns): string {
  const cells: string[] = Array.from({ length: columns.size }, () => '');
  for (const [name, value] of flatten(row)) {
    const index = columns.get(name);
    if (index !== undefined) cells[index] = renderCell(value);
  }
  return renderLine(cells);
}

/** RFC 4180 ends lines in CRLF, whatever the system. */
const renderLine = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

/** Text that spreadsheets run as a formula (https://owasp.org/www-community/attacks/CSV_Injection). */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** Null is empty. Numbers keep their digits and their sign; text that could run is marked as text. */
export function renderCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || isLosslessNumber(value)) return textOf(value);
  const text = textOf(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
