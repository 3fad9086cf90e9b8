import { isExactNumber } from '../../lib/json/exact-number.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { isJsonObject, toText } from './json.ts';

/** As many as a spreadsheet holds: no sheet could show more. */
export const MAX_COLUMNS = 16_384;

/** The last column of a table that would be wider: what has no column of its own, as a JSON object. */
export const FURTHER = 'further_columns';

/** Index of each column, by its name. */
export type Columns = ReadonlyMap<string, number>;

/**
 * The scalars of a JSON value, each under the path that leads to it: `properties.$os`, `distinct_ids.0`.
 * Empty containers have none. A scalar on its own is called `value`. Of two equal paths (a key with a dot
 * in it) the later one wins, as clients of the service know it.
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

/** Adds the columns that rows need to those seen before, as long as there is room. */
export function collectColumns(names: Set<string>, rows: readonly unknown[]): void {
  for (const row of rows) {
    for (const name of flatten(row).keys()) {
      if (!names.has(name)) names.add(names.size < MAX_COLUMNS - 1 ? name : FURTHER);
    }
  }
}

/** Columns in the order of their names, `further_columns` last. */
export function orderColumns(names: ReadonlySet<string>): Columns {
  const ordered = [...names].filter((name) => name !== FURTHER).sort();
  if (names.has(FURTHER)) ordered.push(FURTHER);
  return new Map(ordered.map((name, index) => [name, index]));
}

export const renderHeader = (columns: Columns): string => renderLine([...columns.keys()].map(renderCell));

/** One line of a table; fields without a column are dropped if the table has no `further_columns`. */
export function renderRow(row: unknown, columns: Columns): string {
  const cells: string[] = Array.from({ length: columns.size }, () => '');
  const further: [string, unknown][] = [];
  for (const [name, value] of flatten(row)) {
    const index = columns.get(name);
    if (index === undefined) further.push([name, value]);
    else cells[index] = renderCell(value);
  }
  const last = columns.get(FURTHER);
  if (last !== undefined && further.length > 0)
    cells[last] = renderCell(stringifyJson(Object.fromEntries(further)));
  return renderLine(cells);
}

/** RFC 4180 ends lines in CRLF, whatever the system. */
const renderLine = (cells: readonly string[]): string => `${cells.join(',')}\r\n`;

/** Text that spreadsheets run as a formula (https://owasp.org/www-community/attacks/CSV_Injection). */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/;
/** A run of separators, quotes and blanks, and what follows it. It matches every run whole, hence in linear time. */
const RUN = /([;"'\s]+)([^;"'\s]|$)/g;
const BEGINS_CELL = /[;\t\r\n]/;

/**
 * The same where a spreadsheet that takes `;` as the separator, as in half of Europe, would begin a cell or a
 * row: it does not heed quotes inside of what it takes for a cell.
 */
const neutralise = (text: string): string =>
  text.replace(RUN, (all, run: string, next: string) =>
    next !== '' && FORMULA.test(next) && BEGINS_CELL.test(run) ? `${run}'${next}` : all,
  );

const NEEDS_QUOTES = /[",\r\n]/;

/** Null is empty. Numbers keep their digits and their sign; text that could run is marked as text. */
export function renderCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || isExactNumber(value)) return toText(value);
  const text = toText(value);
  const inner = neutralise(text);
  const safe = FORMULA.test(inner) ? `'${inner}` : inner;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
